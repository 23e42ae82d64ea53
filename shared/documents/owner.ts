import { elements, ignored, one, text, type ValueOf } from './schema.ts';

/** A project as shown in documents: `Owner` and `Initiator`. */
export const owner = elements({ id: one('ID', text), displayName: one('DisplayName', text) });
export type Owner = ValueOf<typeof owner>;

/** An owner as clients name it. */
export const writtenOwner = elements({ id: one('ID', text), displayName: ignored('DisplayName') });
