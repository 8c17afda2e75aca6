type Labels = Readonly<Record<string, string>>;

/** A sum that only grows. */
export class Sum {
  readonly labels: Labels;
  total = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  inc(by = 1): void {
    this.total += by;
  }
}

/** How often values were in which bucket. */
export class Distribution {
  readonly #labels: Labels;
  /** The upper bounds of the buckets, ascending. */
  readonly #bounds: readonly number[];
  /** Of each bucket alone, and at the end of the values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(labels: Labels, bounds: readonly number[]) {
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  /** The values as prom-client writes them. Each bucket counts the smaller ones, too. */
  values(name: string): { metricName: string; labels: object; sharedLabels: Labels; value: number }[] {
    const sharedLabels = this.#labels;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, index) => {
      count += this.#counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { le }, sharedLabels, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, sharedLabels, value: this.#sum },
      { metricName: `${name}_count`, labels: {}, sharedLabels, value: count },
    ];
  }
}
