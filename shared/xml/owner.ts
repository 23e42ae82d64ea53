import type { XmlElements } from './writer.ts';

/** A project as shown in documents: `Owner` and `Initiator`. */
export interface Owner {
  readonly id: string;
  readonly displayName: string;
}

export function ownerElements(owner: Owner): XmlElements {
  return { ID: owner.id, DisplayName: owner.displayName };
}
