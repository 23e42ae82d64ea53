import type { QueryApi } from '../../http/query-api.ts';

/** The version of each API, which its requests name, and the namespace of its documents. */
export const apis = {
  iam: { version: '2010-05-08', xmlNamespace: 'https://iam.amazonaws.com/doc/2010-05-08/' },
  sts: { version: '2011-06-15', xmlNamespace: 'https://sts.amazonaws.com/doc/2011-06-15/' },
} as const satisfies Readonly<Record<QueryApi, { readonly version: string; readonly xmlNamespace: string }>>;
