/**
 * Finds the series of a metric by its label values. prom-client sorts and joins the labels each time it is asked, which
 * costs more than the observation; a series that was asked for once is kept. The values have to be few.
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
