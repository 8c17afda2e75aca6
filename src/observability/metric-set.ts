import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/**
 * The series of a metric by the values of its labels, in the order of their names. prom-client sorts and joins the labels
 * each time, which costs more than the observation, so each series is cached. There must be few values.
 */
type SeriesOf<Series> = (...values: string[]) => Series;

/** Creates metrics in a registry. */
export interface MetricSet {
  counter(name: string, help: string, ...labelNames: string[]): SeriesOf<Counter.Internal>;
  histogram(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: string[]
  ): SeriesOf<Histogram.Internal<string>>;
  gauge(name: string, help: string, ...labelNames: string[]): SeriesOf<Gauge.Internal<string>>;
  /** A gauge that is read when the metrics are rendered. @param read the values, by that of the label if it has one */
  reading(
    name: string,
    help: string,
    read: () => Iterable<readonly [value: number, ...label: string[]]>,
    ...labelNames: string[]
  ): void;
}

export function metricSet(registry: Registry): MetricSet {
  const registers = [registry];
  return {
    counter: (name, help, ...labelNames) => seriesOf(new Counter({ name, help, labelNames, registers })),
    histogram: (name, help, buckets, ...labelNames) =>
      seriesOf(new Histogram({ name, help, labelNames, buckets, registers })),
    gauge: (name, help, ...labelNames) => seriesOf(new Gauge({ name, help, labelNames, registers })),
    reading(name, help, read, ...labelNames) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          for (const [value, ...labels] of read()) this.labels(...labels).set(value);
        },
      });
    },
  };
}

function seriesOf<Series>(metric: { labels: (...values: string[]) => Series }): SeriesOf<Series> {
  const known = new Map<string, Series>();
  return (...values) => {
    const key = values.join(' ');
    let series = known.get(key);
    if (series === undefined) known.set(key, (series = metric.labels(...values)));
    return series;
  };
}
