/** A choice that changes a product, such as a size or an extra. */
export interface Modifier {
  /** Unique among the product's modifiers. */
  readonly id: string;
  readonly name: string;
  /** In minor units of the product's currency, for each time it is chosen for one product. */
  readonly price: number;
}

/** Something that a location sells. */
export interface Product {
  /** UUID. */
  readonly id: string;
  readonly locationId: string;
  /** The location's. */
  readonly currency: string;
  readonly categoryId: string;
  readonly name: string;
  /** In minor units of the currency. */
  readonly price: number;
  readonly tags: readonly string[];
  readonly modifiers: readonly Modifier[];
  /** Only active products can be ordered. */
  readonly active: boolean;
  readonly createdAt: Date;
  /** Each change moves it forward. */
  readonly updatedAt: Date;
  /** Counts the changes, from 1. */
  readonly revision: number;
  /** Events that are waiting to be relayed. */
  readonly waiting: number;
}
