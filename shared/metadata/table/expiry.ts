/** The attribute by which an engine may remove an item by itself: seconds since the epoch, as DynamoDB's TTL wants it. */
export function expiry(milliseconds: number): { readonly expires: number } {
  return { expires: Math.ceil(milliseconds / 1000) };
}
