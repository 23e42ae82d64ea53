import { invalid } from '../../shared/protocol/query-api/action-form.ts';
import { number, optional, otherwise, text, type Parameter } from '../../shared/protocol/query-api/parameters.ts';
import type { ActionName } from './iam-action.ts';
import { tagKeyForm, word } from './inputs.ts';

/* Listings, and the markers by which one page follows another: https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListUsers.html */

/** The order of a listing. */
interface Order<One> {
  /** Returns where an item stands: what it alone of the list is called. */
  placeOf(this: void, one: One): string;
  /** What all places look like. */
  readonly form: RegExp;
  /** Returns what a place is sorted by, for each place another text. Unless given, places are sorted as they are. */
  rank?(this: void, place: string): string;
}

interface Paging {
  /** The place after which the page begins. */
  readonly Marker: string | undefined;
  readonly MaxItems: number;
}

/** What each listing returns besides its items. */
interface Page<One> {
  readonly items: readonly One[];
  readonly IsTruncated: boolean;
  readonly Marker: string | undefined;
}

/** Returns the rank of a name: whatever its case; users of the command line may differ in that alone. */
function rankOfName(name: string): string {
  return `${name.toLowerCase()} ${name}`;
}

export const byItself: Order<string> = { placeOf: (name) => name, form: word, rank: rankOfName };
export const byItsName: Order<{ readonly name: string }> = { ...byItself, placeOf: ({ name }) => name };

const policyPlace = /^(?:aws\/)?[\w+=,.@-]+$/;
/** One of the project may have the name of one of AWS's. */
export const byPolicy: Order<{ readonly ref: string }> = {
  placeOf: ({ ref }) => ref,
  form: policyPlace,
  rank: (ref) => `${ref.slice(ref.indexOf('/') + 1).toLowerCase()} ${ref}`,
};

export const byTag: Order<readonly [key: string, value: string]> = { placeOf: ([key]) => key, form: tagKeyForm };

/** Of what does not exist here, nothing has a place. */
export const byNothing: Order<never> = { placeOf: (none) => none, form: /(?!)/ };

/**
 * Defines a listing: the parameters that its action needs, and how it makes pages. A marker says which list it is of, and where in it the next
 * page begins. It holds no secret, and whoever makes one up learns nothing: a page has only what the caller may list anyway.
 * @param name of the action
 */
export function listing<One>(name: ActionName, { placeOf, form: placeForm, rank = (place) => place }: Order<One>) {
  const prefix = `${name}:`;
  const written = (place: string): string => Buffer.from(prefix + place).toString('base64url');

  /** Reads the marker of an earlier page, and no other: what Node.js would make of another text is not looked at. */
  const marker: Parameter<string> = {
    read: (form, at) => {
      const given = text({ least: 1, most: 1000 }).read(form, at);
      const place = Buffer.from(given, 'base64url').toString().slice(prefix.length);
      if (written(place) !== given || !placeForm.test(place)) throw invalid('Invalid Marker.');
      return place;
    },
  };

  return {
    parameters: { Marker: optional(marker), MaxItems: otherwise(100, number({ least: 1, most: 1000 })) },

    /** Returns a page. What its marker stands for may be gone. @param all whatever their order */
    page<Its extends One>(this: void, all: readonly Its[], { Marker, MaxItems }: Paging): Page<Its> {
      const after = Marker === undefined ? '' : rank(Marker);
      const rest = all
        .map((one) => ({ one, its: rank(placeOf(one)) }))
        .filter(({ its }) => its > after)
        .toSorted((a, b) => (a.its < b.its ? -1 : 1));
      const page = rest.slice(0, MaxItems);
      const IsTruncated = rest.length > page.length;
      return {
        items: page.map(({ one }) => one),
        IsTruncated,
        Marker: IsTruncated ? written(placeOf(page.at(-1)!.one)) : undefined,
      };
    },
  };
}
