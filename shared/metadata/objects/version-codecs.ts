import { madeAt } from '../table/ids.ts';
import type { Codec } from './attribute-codec.ts';
import {
  decodeObjectAttributes,
  encodeObjectAttributes,
  objectAttributeNames,
  type ObjectAttributes,
} from './object-attributes.ts';
import { decodeOwner, encodeOwner } from './stored-owner.ts';

/** A codec for a size in bytes. Written even if 0, but never for a delete marker, which `marker` tells. */
export function size(name: string, marker: string): Codec<number> {
  return {
    stored: [name],
    alsoReads: [marker],
    write: (item, value) => {
      if (item[marker] !== 1) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? 0,
  };
}

/** A codec for the canonical id of a project. */
export function owner(name: string): Codec<string> {
  return {
    stored: [name],
    write: (item, value) => {
      item[name] = encodeOwner(value);
    },
    read: (item) => decodeOwner(item[name]),
  };
}

/** A codec for a time in milliseconds, left out if it is that of the instance to the second. */
export function lastModified(name: string, instance: string): Codec<number> {
  return {
    stored: [name],
    alsoReads: [instance],
    write: (item, value) => {
      if (Math.abs(value - madeAt(item[instance] as string)) > 1000) item[name] = value;
    },
    read: (item) => (item[name] as number | undefined) ?? madeAt(item[instance] as string),
  };
}

/** A codec for object attributes, or for the id of the details item that holds them. */
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
