/**
 * Finds the series of a metric by its label values. prom-client sorts and joins the labels each time, which costs more
 * than the observation, so each series is cached. There must be few values.
 */
export function seriesOf<Series>(metric: { labels: (...values: string[]) => Series }): (...values: string[]) => Series {
  const known = new Map<string, Series>();
  return (...values) => {
    const key = values.join(' ');
    let series = known.get(key);
    if (series === undefined) known.set(key, (series = metric.labels(...values)));
    return series;
  };
}
