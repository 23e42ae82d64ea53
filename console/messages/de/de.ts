import type { Dictionary } from '../en/en.ts';
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

/** German. */
export const de: Dictionary = {
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
