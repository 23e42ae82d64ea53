import { common, errors } from './common.ts';
import { shell, keys, signIn } from './shell.ts';
import { buckets } from './buckets.ts';
import { objects, links } from './objects.ts';
import { details, acl } from './details.ts';
import { settings, lifecycle, lock, policyFaults } from './settings.ts';
import { monitoring, alarms } from './monitoring.ts';
import { website, cors } from './website.ts';
import { transfers, activity } from './transfers.ts';
import { profile } from './profile.ts';

/** English: the dictionary that defines the messages. */
export const en = {
  common,
  errors,
  shell,
  keys,
  signIn,
  buckets,
  objects,
  links,
  details,
  acl,
  settings,
  lifecycle,
  lock,
  policyFaults,
  website,
  cors,
  monitoring,
  alarms,
  transfers,
  activity,
  profile,
};

/** A dictionary: the keys of the English one, with texts, and functions that return texts. */
export type Dictionary = Widened<typeof en>;
export type Widened<T> = T extends string
  ? string
  : T extends (...parameters: infer P) => string
    ? (...parameters: P) => string
    : { readonly [K in keyof T]: Widened<T[K]> };
