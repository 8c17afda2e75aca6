import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { Distribution, Sum } from './series.ts';

/** The series of a metric by the values of its labels, in the order of their names. There must be few values. */
type SeriesOf<Series> = (...values: string[]) => Series;

/** Creates metrics in a registry. */
export interface MetricSet {
  /**
   * Without labels it begins at 0. With labels, the series of known values should be created at once: `rate` and
   * `increase` do not see the first counts of a series that begins with them.
   */
  counter(name: string, help: string, ...labelNames: string[]): SeriesOf<Sum>;
  histogram(name: string, help: string, buckets: number[], ...labelNames: string[]): SeriesOf<Distribution>;
  gauge(name: string, help: string, ...labelNames: string[]): SeriesOf<Gauge.Internal<string>>;
  /** A counter that is kept elsewhere. @param read as that of `reading` */
  counting(name: string, help: string, read: Reading, ...labelNames: string[]): void;
  /** A gauge that is read when the metrics are rendered. @param read the values, by that of the label if it has one */
  reading(name: string, help: string, read: Reading, ...labelNames: string[]): void;
}

type Reading = () => Iterable<readonly [value: number, ...labels: string[]]>;

/**
 * Counters and histograms add up here and are handed over when they are rendered: prom-client looks up the series and
 * the bucket by texts for each observation, and an invocation makes ten.
 */
export function metricSet(registry: Registry): MetricSet {
  const registers = [registry];
  return {
    counter(name, help, ...labelNames) {
      const series = new Map<string, Sum>();
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const { labels, total } of series.values()) this.inc(labels, total);
        },
      });
      const of = seriesIn(series, (values) => new Sum(byName(labelNames, values)));
      if (labelNames.length === 0) of();
      return of;
    },
    histogram(name, help, buckets, ...labelNames) {
      const series = new Map<string, Distribution>();
      const of = seriesIn(series, (values) => new Distribution(byName(labelNames, values), buckets));
      if (labelNames.length === 0) of();
      class Rendered extends Histogram {
        /** What the registry reads. */
        getForPromString(): object {
          return { name, help, type: 'histogram', values: [...series.values()].flatMap((one) => one.values(name)) };
        }
      }
      new Rendered({ name, help, labelNames, registers });
      return of;
    },
    gauge(name, help, ...labelNames) {
      const gauge = new Gauge({ name, help, labelNames, registers });
      return seriesIn(new Map<string, Gauge.Internal<string>>(), (values) => gauge.labels(...values));
    },
    counting(name, help, read, ...labelNames) {
      new Counter({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [value, ...labels] of read()) this.labels(...labels).inc(value);
        },
      });
    },
    reading(name, help, read, ...labelNames) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          this.reset();
          for (const [value, ...labels] of read()) this.labels(...labels).set(value);
        },
      });
    },
  };
}

function seriesIn<Series>(known: Map<string, Series>, create: (values: string[]) => Series): SeriesOf<Series> {
  return (...values) => {
    const key = values.length === 1 ? (values[0] ?? '') : values.join(' ');
    let series = known.get(key);
    if (series === undefined) known.set(key, (series = create(values)));
    return series;
  };
}

function byName(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
}
