import { optionally } from './buckets.ts';
import type { S3Client } from './client.ts';
import { writeXml, type Tree, type Xml } from './xml.ts';

export const corsMethods = ['GET', 'PUT', 'DELETE', 'POST', 'HEAD'] as const;

/** A CORS rule of a bucket. */
export interface CorsRule {
  /** Empty: the rule has none. */
  readonly id: string;
  readonly origins: readonly string[];
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  readonly expose: readonly string[];
  /** Seconds; undefined: not set. */
  readonly maxAge: number | undefined;
}

const query = { cors: '' };

/** Returns the CORS rules of a bucket in their order, which decides. */
export async function getCors(client: S3Client, bucket: string): Promise<CorsRule[]> {
  const xml = await optionally(client.document({ method: 'GET', bucket, query }));
  return xml?.all('CORSRule').map(ruleOf) ?? [];
}

/** Replaces the CORS rules of a bucket; an empty list removes them. */
export async function putCors(client: S3Client, bucket: string, rules: readonly CorsRule[]): Promise<void> {
  if (rules.length === 0) return void (await client.send({ method: 'DELETE', bucket, query }));
  const body = writeXml(['CORSConfiguration', rules.map(treeOf)]);
  await client.send({ method: 'PUT', bucket, query, body });
}

function ruleOf(xml: Xml): CorsRule {
  const texts = (name: string): string[] => xml.all(name).map(({ text }) => text);
  const maxAge = xml.optional('MaxAgeSeconds');
  return {
    id: xml.textOf('ID'),
    origins: texts('AllowedOrigin'),
    methods: texts('AllowedMethod'),
    headers: texts('AllowedHeader'),
    expose: texts('ExposeHeader'),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

function treeOf(rule: CorsRule): Tree {
  const list = (name: string, texts: readonly string[]): Tree[] => texts.map((text) => [name, text]);
  return [
    'CORSRule',
    [
      rule.id === '' ? undefined : ['ID', rule.id],
      ...list('AllowedOrigin', rule.origins),
      ...list('AllowedMethod', rule.methods),
      ...list('AllowedHeader', rule.headers),
      ...list('ExposeHeader', rule.expose),
      rule.maxAge === undefined ? undefined : ['MaxAgeSeconds', rule.maxAge],
    ],
  ];
}
