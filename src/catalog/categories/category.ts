/** A group of a location's products. */
export interface Category {
  /** `cat_` and 32 hexadecimal digits. */
  readonly id: string;
  readonly locationId: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Each change moves it forward. */
  readonly updatedAt: Date;
  /** Counts the changes, from 1. */
  readonly revision: number;
  /** Events that are waiting to be relayed. */
  readonly waiting: number;
}
