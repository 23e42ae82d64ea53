/** An amount of objects and bytes, which quotas limit. Versions count as objects; parts of open uploads count as bytes. */
export interface Amount {
  readonly bytes: number;
  readonly objects: number;
}

export const nothing: Amount = { bytes: 0, objects: 0 };

export function plus(a: Amount, b: Amount): Amount {
  return { bytes: a.bytes + b.bytes, objects: a.objects + b.objects };
}

export function minus(a: Amount, b: Amount): Amount {
  return { bytes: a.bytes - b.bytes, objects: a.objects - b.objects };
}

export function fits(amount: Amount, room: Amount): boolean {
  return amount.bytes <= room.bytes && amount.objects <= room.objects;
}
