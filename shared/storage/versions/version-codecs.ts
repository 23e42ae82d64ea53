import { madeAt } from '../table/keys/ids.ts';
import type { Codec } from './attribute-codec.ts';
import {
  decodeObjectAttributes,
  encodeObjectAttributes,
  objectAttributeNames,
  type ObjectAttributes,
} from './object-attributes.ts';
import { decodeOwner, encodeOwner } from './stored-values.ts';

/**
 * Returns a codec for a size in bytes: written even if 0, but not for a delete marker, which has none.
 * @param marker the attribute that marks one
 */
export function size(name: string, marker: string): Codec<number> {
  return {
    stored: [name],
    alsoReads: [marker],
    write: (item, value) => {
      if (item[marker] !== 1 || value > 0) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? 0,
  };
}

/** Returns a codec for the canonical id of a project. */
export function owner(name: string): Codec<string> {
  return {
    stored: [name],
    write: (item, value) => {
      item[name] = encodeOwner(value);
    },
    read: (item) => decodeOwner(item[name]),
  };
}

/** Returns a codec for a time in milliseconds, omitted if it is the instance's. */
export function lastModified(name: string, instance: string): Codec<number> {
  return {
    stored: [name],
    alsoReads: [instance],
    write: (item, value) => {
      if (value !== madeAt(item[instance] as string)) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? madeAt(item[instance] as string),
  };
}

/** Returns a codec for object attributes, or for the id of the details item that holds them. */
export function inlineOrDetails(name: string): Codec<ObjectAttributes | { readonly details: string }> {
  return {
    stored: [name, ...objectAttributeNames],
    write: (item, value) => {
      if ('details' in value) item[name] = value.details;
      else Object.assign(item, encodeObjectAttributes(value));
    },
    read: (item) => {
      const details = item[name] as string | undefined;
      return details === undefined ? decodeObjectAttributes(item) : { details };
    },
  };
}
