import { beforeEach, describe, expect, it } from 'vitest';
import { Accounts } from '../../shared/accounts/accounts.ts';
import { trustAttributes } from '../../shared/accounts/role-items.ts';
import { parseTrustPolicy, existingPrincipals } from '../../shared/access/policies/policy.ts';
import type { Attributes } from '../../shared/ports/key-value-table.ts';
import { accountKey } from '../../shared/storage/table/keys/account-keys.ts';
import { IdentityProvider } from '../support/clients/identity-provider.ts';
import { openSecrets } from '../support/storage/fixed-deps.ts';
import { PipelineInProcess } from '../support/storage/pipeline-in-process.ts';
import { Meter, MeteredTable } from './metered.ts';

/** What strangers could tell by the time that an answer takes: counted, not timed. */
describe('AssumeRoleWithWebIdentity', () => {
  const host = 'id.example.com';
  let provider: IdentityProvider;
  let meter: Meter;
  let service: PipelineInProcess;
  let shop: string;
  let other: string;

  beforeEach(async () => {
    provider = new IdentityProvider();
    meter = new Meter();
    const table = new MeteredTable(meter);
    const { clock } = provider;
    const accounts = new Accounts({ table, secrets: openSecrets, clock });
    const put = (key: ReturnType<typeof accountKey.project>, item: Attributes) => table.write([{ key, put: item }]);
    const numberOf = async (id: string): Promise<string> => {
      await accounts.ensure({ project: `${id}@customer`, id, displayName: id, users: [{ name: 'owner', keys: [] }] });
      return (await accounts.account((await accounts.project(id))!)).accountNumber;
    };
    shop = await numberOf('shop');
    other = await numberOf('other');
    await put(accountKey.provider('shop', host), { created: 1, clients: ['shop'], thumbprints: [] });
    const role = async (project: string, name: string, sub: string): Promise<void> => {
      const Principal = { Federated: `arn:aws:iam::${shop}:oidc-provider/${host}` };
      const Condition = { StringEquals: { [`${host}:sub`]: sub } };
      const statement = { Effect: 'Allow', Principal, Action: 'sts:AssumeRoleWithWebIdentity', Condition };
      const text = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
      const trust = trustAttributes(text, await existingPrincipals(parseTrustPolicy(text), accounts));
      await put(accountKey.role(project, name), { id: `ROL${name}`, created: 1, attached: [], inline: {}, ...trust });
    };
    await role('shop', 'ci', 'job');
    await role('shop', 'strict', 'another job');
    await role('other', 'ci', 'job');
    service = new PipelineInProcess([], { table, clock, projects: accounts, webReader: provider.reader });
  });

  const valid = (): string => provider.token(JSON.stringify(provider.claims()));
  const arn = (account: string, name: string): string => `arn:aws:iam::${account}:role/${name}`;
  const ask = async (RoleArn: string, WebIdentityToken: string) => {
    const form = { Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15', RoleSessionName: 'job' };
    const body = new URLSearchParams({ ...form, RoleArn, WebIdentityToken }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    meter.take();
    const { status, code, text } = await service.send({ method: 'POST', path: '/', headers, body }, undefined);
    return { status, code, text: text.replace(/<RequestId>.*<\/RequestId>/, ''), cost: meter.take() };
  };
  const unknown = (): readonly string[] => [
    arn('999999999999', 'ci'),
    arn('000000000000', 'ci'),
    arn('x', 'ci'),
    arn(other, 'ci/..'),
    arn(other, 'ci\n'),
    'arn:aws:s3:::a-bucket-and-no-role',
    'twenty characters or more',
  ];

  it('reads of an account that is not there what it reads of one that is', async () => {
    const stranger = provider.token(JSON.stringify({ ...provider.claims(), iss: 'https://accounts.example.com' }));
    const known = await ask(arn(shop, 'ci'), stranger);
    expect(known).toMatchObject({ status: 400, code: 'InvalidIdentityToken', cost: { reads: 3, writes: 0 } });
    for (const elsewhere of [arn(shop, 'nobody'), arn(other, 'ci'), ...unknown()])
      expect(await ask(elsewhere, stranger), elsewhere).toEqual(known);
  });

  it('tells by a token that is none of the provider nothing of accounts without the provider', async () => {
    const known = await ask(arn(other, 'ci'), valid());
    expect(known).toMatchObject({ status: 400, code: 'InvalidIdentityToken' });
    for (const elsewhere of [arn(other, 'nobody'), ...unknown()])
      expect(await ask(elsewhere, valid()), elsewhere).toEqual(known);
  });

  it('reads of a role that is not there what it reads of one that does not trust the token', async () => {
    expect(await ask(arn(shop, 'ci'), valid())).toMatchObject({ status: 200 });
    const untrusting = await ask(arn(shop, 'strict'), valid());
    expect(untrusting).toMatchObject({ status: 403, code: 'AccessDenied', cost: { writes: 0 } });
    for (const elsewhere of ['nobody', 'path/strict', 'Strict', 'path/ci', 'ci/..'])
      expect(await ask(arn(shop, elsewhere), valid()), elsewhere).toEqual(untrusting);
  });
});
