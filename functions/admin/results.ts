import * as z from 'zod/mini';
import { privileges } from '../../shared/access/identity.ts';
import { retentionModes } from '../../shared/storage/versions/object-lock.ts';

/** What results consist of. Units are in the descriptions, which clients read in the API's. */
const text = z.string();
const flag = z.boolean();
const count = z.int().register(z.globalRegistry, { minimum: 0 });
const time = z.int().register(z.globalRegistry, { description: 'Milliseconds since 1970-01-01T00:00:00Z' });
const bytes = z.int().register(z.globalRegistry, { minimum: 0, description: 'Bytes' });

export const result = {
  ...{ text, flag, count, time, bytes, number: z.number(), literal: z.literal, enum: z.enum },
  object: z.object,
  optional: z.optional,
  /** Of a command that has no more to tell than that it is done: `null` in JSON. */
  nothing: z.void(),
  list: <One extends z.core.$ZodType>(one: One) => z.readonly(z.array(one)),
  record: z.readonly(z.record(z.string(), z.unknown())),
  texts: z.readonly(z.record(z.string(), text)),
  union: z.union,
  /** What follows from something else, which describes it. */
  any: z.optional(z.unknown()),
} as const;

const { list } = result;
const stored = { created: time, suspended: flag } as const;

export const customer = z.object({ customer: text, ...stored });

export const project = z.object({
  ...{
    id: text,
    email: text,
    customer: text,
    displayName: text,
    accountNumber: z.optional(text),
    root: z.optional(text),
  },
  ...{ bucketQuota: z.optional(count), ...stored },
});

export const user = z.object({ user: text, name: text, project, privileges: list(z.enum(privileges)), ...stored });

export const key = z.object({
  ...{ accessKeyId: text, user: text, until: z.optional(time), ...stored },
  // To a quarter of an hour.
  used: z.optional(z.object({ at: time, service: text })),
});

export const newKey = z.object({ accessKeyId: text, secretAccessKey: text, user: text });

export const locked = z.object({
  ...{ key: text, versionId: text, hold: flag, mode: z.optional(z.enum(retentionModes)), until: z.optional(time) },
});
