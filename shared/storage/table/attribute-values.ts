/** Returns the value of a number attribute, 0 if it is absent. */
export function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Returns the attribute by which an engine may expire an item: seconds since the epoch, as DynamoDB's TTL requires. */
export function expiry(milliseconds: number): { readonly expires: number } {
  return { expires: Math.ceil(milliseconds / 1000) };
}
