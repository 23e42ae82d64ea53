import {
  AddClientIDToOpenIDConnectProviderCommand,
  CreateOpenIDConnectProviderCommand,
  DeleteOpenIDConnectProviderCommand,
  GetAccountSummaryCommand,
  GetOpenIDConnectProviderCommand,
  ListOpenIDConnectProvidersCommand,
  ListOpenIDConnectProviderTagsCommand,
  RemoveClientIDFromOpenIDConnectProviderCommand,
  TagOpenIDConnectProviderCommand,
  UntagOpenIDConnectProviderCommand,
  UpdateOpenIDConnectProviderThumbprintCommand,
  type IAMClient,
} from '@aws-sdk/client-iam';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketName } from '../support/clients/clients.ts';
import { iamClient } from '../support/clients/iam.ts';
import { s3Error } from '../support/clients/expect-error.ts';
import { makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

const service = serviceUnderTest();

describe.runIf(isAdministered)('OpenID Connect providers', () => {
  const missing = s3Error('NoSuchEntityException', 404);
  const thumbprint = 'a'.repeat(40);
  let iam: IAMClient;

  beforeAll(async () => {
    iam = iamClient(service.url, await makeKey(service.place, `shop:owner@${bucketName()}`));
  });
  afterAll(() => iam.destroy());

  it('come back as they were written, are changed and removed', async () => {
    const written = { ClientIDList: ['one', 'two'], ThumbprintList: [thumbprint], Tags: [{ Key: 'a', Value: 'b' }] };
    const Url = 'https://gitlab.example.com/realms/Shop';
    const made = await iam.send(new CreateOpenIDConnectProviderCommand({ Url, ...written }));
    const OpenIDConnectProviderArn = made.OpenIDConnectProviderArn!;
    expect(OpenIDConnectProviderArn).toMatch(/^arn:aws:iam::\d{12}:oidc-provider\/gitlab\.example\.com\/realms\/Shop$/);
    expect(made.Tags).toEqual(written.Tags);
    const of = { OpenIDConnectProviderArn };
    const read = async () => {
      const { $metadata: _, ...found } = await iam.send(new GetOpenIDConnectProviderCommand(of));
      return found;
    };
    expect(await read()).toEqual({
      Url: Url.slice('https://'.length),
      CreateDate: expect.any(Date) as Date,
      ...written,
    });
    const { OpenIDConnectProviderList } = await iam.send(new ListOpenIDConnectProvidersCommand({}));
    expect(OpenIDConnectProviderList).toEqual([{ Arn: OpenIDConnectProviderArn }]);
    expect((await iam.send(new GetAccountSummaryCommand({}))).SummaryMap!.Providers).toBe(1);

    await iam.send(new AddClientIDToOpenIDConnectProviderCommand({ ...of, ClientID: 'three' }));
    await iam.send(new AddClientIDToOpenIDConnectProviderCommand({ ...of, ClientID: 'three' }));
    await iam.send(new RemoveClientIDFromOpenIDConnectProviderCommand({ ...of, ClientID: 'one' }));
    await iam.send(new RemoveClientIDFromOpenIDConnectProviderCommand({ ...of, ClientID: 'one' }));
    const ThumbprintList = ['b'.repeat(40)];
    await iam.send(new UpdateOpenIDConnectProviderThumbprintCommand({ ...of, ThumbprintList }));
    await iam.send(new TagOpenIDConnectProviderCommand({ ...of, Tags: [{ Key: 'c', Value: '' }] }));
    await iam.send(new UntagOpenIDConnectProviderCommand({ ...of, TagKeys: ['a'] }));
    const Tags = [{ Key: 'c', Value: '' }];
    expect(await read()).toMatchObject({ ClientIDList: ['two', 'three'], ThumbprintList, Tags });
    expect((await iam.send(new ListOpenIDConnectProviderTagsCommand(of))).Tags).toEqual(Tags);

    await expect(iam.send(new CreateOpenIDConnectProviderCommand({ Url }))).rejects.toEqual(
      s3Error('EntityAlreadyExistsException', 409),
    );
    await iam.send(new DeleteOpenIDConnectProviderCommand(of));
    await expect(iam.send(new GetOpenIDConnectProviderCommand(of))).rejects.toEqual(missing);
    await iam.send(new DeleteOpenIDConnectProviderCommand(of));
  });

  it.each([
    'http://example.com',
    'https://example.com?a=b',
    'https://example.com/#x',
    'https://user:secret@example.com',
    'https://EXAMPLE.com',
    'https://example.com/a/../b',
    'https://',
    'example.com',
  ])('have no URL such as %s', async (Url) => {
    await expect(iam.send(new CreateOpenIDConnectProviderCommand({ Url }))).rejects.toEqual(
      s3Error('InvalidInputException', 400),
    );
  });

  it('have so many thumbprints and audiences', async () => {
    const Url = 'https://full.example.com';
    const many = (count: number) => Array.from({ length: count }, (_, at) => `client-${at}`);
    const tooMany = s3Error('InvalidInputException', 400);
    const limit = s3Error('LimitExceededException', 409);
    const ThumbprintList = many(6).map(() => thumbprint);
    const create = (more: object) => iam.send(new CreateOpenIDConnectProviderCommand({ Url, ...more }));
    await expect(create({ ThumbprintList })).rejects.toEqual(tooMany);
    await expect(create({ ClientIDList: many(101) })).rejects.toEqual(limit);
    await expect(create({ ThumbprintList: ['a'] })).rejects.toEqual(s3Error('ValidationError', 400));
    const { OpenIDConnectProviderArn } = await create({ ClientIDList: many(100) });
    const of = { OpenIDConnectProviderArn };
    await expect(iam.send(new UpdateOpenIDConnectProviderThumbprintCommand({ ...of, ThumbprintList }))).rejects.toEqual(
      tooMany,
    );
    const add = (ClientID: string) => iam.send(new AddClientIDToOpenIDConnectProviderCommand({ ...of, ClientID }));
    await add('client-0');
    await expect(add('client-100')).rejects.toEqual(limit);
  });

  it('are nothing to other projects', async () => {
    const { OpenIDConnectProviderArn } = await iam.send(
      new CreateOpenIDConnectProviderCommand({ Url: 'https://other.example.com' }),
    );
    const other = iamClient(service.url, await makeKey(service.place, `shop:owner@${bucketName()}`));
    await expect(other.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }))).rejects.toEqual(
      missing,
    );
    // It does not fail, and deletes none.
    await other.send(new DeleteOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
    await iam.send(new GetOpenIDConnectProviderCommand({ OpenIDConnectProviderArn }));
    other.destroy();
  });
});
