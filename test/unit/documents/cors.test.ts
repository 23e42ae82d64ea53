import { describe, expect, it } from 'vitest';
import { putBucketCors } from '../../../functions/bucket/bucket-cors.ts';
import { cors } from '../../../shared/documents/cors.ts';
import { readDocument } from '../../../shared/xml/reader.ts';
import { bodyReader } from './document-readers.ts';
import { codeOf, golden, namespace } from '../xml/golden.ts';

const origin = '<AllowedOrigin>https://a.example</AllowedOrigin>';
const method = '<AllowedMethod>GET</AllowedMethod>';
const rule = (inner: string): string => `<CORSRule>${origin}${method}${inner}</CORSRule>`;
const documentOf = (inner: string) => `<CORSConfiguration>${inner}</CORSConfiguration>`;
const read = (inner: string) => readDocument(documentOf(inner), cors);

const whole = golden`
  <CORSConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
    <CORSRule>
      <ID>upload</ID>
      <AllowedOrigin>https://*.example</AllowedOrigin><AllowedOrigin>*</AllowedOrigin>
      <AllowedMethod>GET</AllowedMethod><AllowedMethod>PUT</AllowedMethod><AllowedMethod>POST</AllowedMethod>
      <AllowedMethod>DELETE</AllowedMethod><AllowedMethod>HEAD</AllowedMethod>
      <AllowedHeader>x-amz-*</AllowedHeader><AllowedHeader>Range</AllowedHeader>
      <ExposeHeader>ETag</ExposeHeader><ExposeHeader>x-amz-meta-a</ExposeHeader>
      <MaxAgeSeconds>3000</MaxAgeSeconds>
    </CORSRule>
    <CORSRule><AllowedOrigin>https://a.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>
  </CORSConfiguration>`;

describe('CORSConfiguration', () => {
  it('is read, and written as it was', () => {
    const rules = readDocument(whole, cors);
    expect(rules).toEqual([
      {
        id: 'upload',
        origins: ['https://*.example', '*'],
        methods: ['GET', 'PUT', 'POST', 'DELETE', 'HEAD'],
        headers: ['x-amz-*', 'Range'],
        expose: ['ETag', 'x-amz-meta-a'],
        maxAge: 3000,
      },
      { origins: ['https://a.example'], methods: ['GET'] },
    ]);
    expect(cors.write(rules, namespace)).toBe(whole);
  });

  it('has up to 100 rules', async () => {
    const readBody = bodyReader(putBucketCors);
    expect(await readBody(documentOf(rule('').repeat(100)))).toHaveLength(100);
    await expect(readBody(documentOf(rule('').repeat(101)))).rejects.toMatchObject({ code: 'InvalidRequest' });
  });

  it.each([
    ['no rule', ''],
    ['no origin', `<CORSRule>${method}</CORSRule>`],
    ['no method', `<CORSRule>${origin}</CORSRule>`],
    ['an empty origin', rule('<AllowedOrigin/>')],
    ['an empty header', rule('<AllowedHeader/>')],
    ['an empty exposed header', rule('<ExposeHeader/>')],
    ['two ids', rule('<ID>a</ID><ID>b</ID>')],
    ['two ages', rule('<MaxAgeSeconds>1</MaxAgeSeconds><MaxAgeSeconds>2</MaxAgeSeconds>')],
    ['an age that is no number', rule('<MaxAgeSeconds>soon</MaxAgeSeconds>')],
    ['an age below zero', rule('<MaxAgeSeconds>-1</MaxAgeSeconds>')],
    ['an age without end', rule('<MaxAgeSeconds>2147483648</MaxAgeSeconds>')],
    ['an unknown element', rule('<AllowCredentials>true</AllowCredentials>')],
    ['something beside the rules', '<Rule/>'],
  ])('%s → MalformedXML', (_, inner) => {
    expect(codeOf(() => read(inner))).toBe('MalformedXML');
  });

  it.each([
    ['a method that is none of the five', rule('<AllowedMethod>PATCH</AllowedMethod>')],
    ['OPTIONS', rule('<AllowedMethod>OPTIONS</AllowedMethod>')],
    ['a method in lower case', rule('<AllowedMethod>get</AllowedMethod>')],
    ['two stars in an origin', rule('<AllowedOrigin>https://*.*.example</AllowedOrigin>')],
    ['two stars in a header', rule('<AllowedHeader>x-*-*</AllowedHeader>')],
    ['an id of 256', rule(`<ID>${'i'.repeat(256)}</ID>`)],
    ['an exposed header that is not ASCII', rule('<ExposeHeader>größe</ExposeHeader>')],
  ])('%s → InvalidRequest', (_, inner) => {
    expect(codeOf(() => read(inner))).toBe('InvalidRequest');
  });

  it.each(['ID', 'AllowedOrigin', 'AllowedMethod', 'AllowedHeader', 'ExposeHeader'])(
    'control characters in %s → InvalidRequest',
    (name) => {
      for (const character of ['&#13;&#10;', '&#10;', '&#13;', '&#9;', '\n', '&#127;', '&#133;', '&#8232;']) {
        const text = `ETag${character}X-Injected: yes`;
        const element = `<${name}>${text}</${name}>`;
        const inner = name === 'ID' ? rule(element) : `<CORSRule>${element}${origin}${method}</CORSRule>`;
        expect(
          codeOf(() => read(inner)),
          character,
        ).toBe('InvalidRequest');
      }
    },
  );
});
