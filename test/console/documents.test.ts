import { describe, expect, it } from 'vitest';
import { corsJson, lifecycleJson, websiteJson } from '../../console/format/documents.ts';
import { Xml } from '../../console/s3/xml.ts';

/** The documents in commands, as the AWS CLI's help describes them. */
describe('the documents in commands', () => {
  it('leave out what is not set', () => {
    const rule = { id: '', origins: ['*'], methods: ['GET'], headers: [], expose: ['ETag'], maxAge: undefined };
    expect(JSON.parse(corsJson([rule]))).toEqual({
      CORSRules: [{ AllowedOrigins: ['*'], AllowedMethods: ['GET'], ExposeHeaders: ['ETag'] }],
    });
    const redirect = { prefix: 'a/', errorCode: '', protocol: '', host: '', replaceKey: '', code: '' };
    expect(
      JSON.parse(websiteJson({ kind: 'pages', index: 'i', error: '', rules: [{ ...redirect, replacePrefix: '' }] })),
    ).toEqual({
      IndexDocument: { Suffix: 'i' },
      RoutingRules: [{ Condition: { KeyPrefixEquals: 'a/' }, Redirect: { ReplaceKeyPrefixWith: '' } }],
    });
    expect(JSON.parse(websiteJson({ kind: 'redirect', host: 'a.example', protocol: 'https' }))).toEqual({
      RedirectAllRequestsTo: { HostName: 'a.example', Protocol: 'https' },
    });
  });

  it('of lifecycle rules are whole, or not given', () => {
    const simple = {
      kind: 'simple',
      name: 'n',
      prefix: '',
      days: undefined,
      noncurrentDays: 3,
      isEnabled: false,
    } as const;
    expect(JSON.parse(lifecycleJson([simple])!)).toEqual({
      Rules: [{ ID: 'n', Status: 'Disabled', Filter: {}, NoncurrentVersionExpiration: { NoncurrentDays: 3 } }],
    });
    const other = { kind: 'other', name: 'o', isEnabled: true, xml: new Xml('Rule', {}) } as const;
    expect(lifecycleJson([simple, other])).toBeUndefined();
  });
});
