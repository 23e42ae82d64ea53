import { describe, expect, it } from 'vitest';
import { awsCommand } from '../../console/format/commands.ts';
import { corsJson, lifecycleJson, websiteJson } from '../../console/format/documents.ts';
import { presignCommand } from '../../console/format/object-commands.ts';
import { parseXml } from '../../console/s3/xml.ts';
import { run } from '../support/programs/programs.ts';

/** The documents in commands, as the AWS CLI's help describes them. */
describe('the documents in commands', () => {
  it('leave out what is not set', () => {
    const rule = { origins: ['*'], methods: ['GET'], expose: ['ETag'] };
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
    const other = { kind: 'other', name: 'o', isEnabled: true, xml: parseXml('<Rule/>') } as const;
    expect(lifecycleJson([simple, other])).toBeUndefined();
  });
});

describe('commands with hostile names', () => {
  const keys = [
    "it's \\ $HOME `id` $(id)",
    // A terminal would end its line at Ctrl+C, and run the next one.
    'a\u0003\ntouch /tmp/pasted\n#',
    // The end of a bracketed paste.
    'a\u001b[201~\rid\r',
    "quoted ' \\ and \u007f, \u009b2J",
    'invoice\u202egpj.sh \u2028\ufeff',
  ];

  it('have nothing in them that a terminal acts on, and are the same words to a shell', async () => {
    for (const key of keys) {
      const command = awsCommand({ endpoint: 'http://a', region: 'r' }, 's3', 'rm', `s3://b/${key}`);
      expect(command).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
      const { stdout } = await run('bash', ['-c', `aws() { printf '%s\\0' "$@"; }; ${command}`]);
      expect(stdout).toBe(['--endpoint-url', 'http://a', 's3', 'rm', `s3://b/${key}`, ''].join('\0'));
      const { command: python } = presignCommand(
        { endpoint: 'http://a', region: 'r' },
        { method: 'PUT', bucket: 'b', key, seconds: 1 },
      );
      expect(python.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }
  });
});
