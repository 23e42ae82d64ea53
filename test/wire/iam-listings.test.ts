import { beforeAll, describe, expect, it } from 'vitest';
import { administrativeActions } from '../../shared/access/policies/policy-actions.ts';
import { parsedXml } from '../../shared/xml/reader.ts';
import { bucketName } from '../support/clients/clients.ts';
import { textOf } from '../support/clients/expect-error.ts';
import { allowing, iamForm, trusting } from '../support/clients/iam.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import type { Key } from '../support/clients/signer.ts';
import { makeKey } from '../support/storage/administration.ts';
import { isAdministered, serviceUnderTest } from '../support/programs/service-under-test.ts';

/** The pages of IAM's listings: https://docs.aws.amazon.com/IAM/latest/APIReference/API_ListUsers.html */

const service = serviceUnderTest();
type Parameters = Readonly<Record<string, string>>;

interface Listing {
  /** What it is a listing of. */
  readonly of: Parameters;
  /** How many items it has, without those that it has of AWS. */
  readonly items: number;
  /** Removes the first item, whose element is given. Without it, the first item cannot be removed. */
  remove?(this: void, xml: string): Parameters;
}

/** Returns the page that an answer is: the items of all its lists, as their XML, and where the next begins. */
function pageOf({ text }: RawResponse) {
  const result = parsedXml(text).root.children[0]!;
  // A group precedes the list of its members.
  const lists = result.children.filter(({ name }) => !['IsTruncated', 'Marker', 'Group'].includes(name));
  const marker = result.optional('Marker')?.text;
  expect(result.one('IsTruncated').text).toBe(String(marker !== undefined));
  return { items: lists.flatMap(({ name }) => itemsOf(text, name)), marker };
}

function itemsOf(xml: string, list: string): readonly string[] {
  const inner = new RegExp(`<${list}>(.*)</${list}>`, 's').exec(xml)?.[1] ?? '';
  return inner.split(/(?<=<\/member>)/).filter((item) => item !== '');
}

describe.runIf(isAdministered)('The listings of IAM', () => {
  let owner: Key;
  let stranger: Key;
  let account: string;
  const send = (parameters: Parameters, key = owner): Promise<RawResponse> =>
    service.send(iamForm(parameters), { key });
  const done = async (Action: string, parameters: Parameters, key = owner): Promise<RawResponse> => {
    const response = await send({ Action, ...parameters }, key);
    expect(response.status, `${Action} ${response.text}`).toBe(200);
    return response;
  };
  const arn = (what: string): string => `arn:aws:iam::${account}:${what}`;
  const tags = ['A', 'b', 'C'];
  const provider = 'id.example.com/listed';
  const own = 'policy/FullAccess';
  const shared = 'arn:aws:iam::aws:policy/FullAccess';

  /** Whatever has pages, with what it is asked. */
  const listings = (): Readonly<Record<string, Listing>> => {
    const holder = { UserName: 'holder' };
    const role = { RoleName: 'holder' };
    const crew = { GroupName: 'crew' };
    const policy = { PolicyArn: arn(own) };
    const its = { OpenIDConnectProviderArn: arn(`oidc-provider/${provider}`) };
    const untag = (Kind: string, of: Parameters) => (xml: string) => ({
      Action: `Untag${Kind}`,
      ...of,
      'TagKeys.member.1': textOf(xml, 'Key')!,
    });
    const detach = (Kind: string, of: Parameters) => (xml: string) => ({
      Action: `Detach${Kind}Policy`,
      ...of,
      PolicyArn: textOf(xml, 'PolicyArn')!,
    });
    const drop = (Kind: string, of: Parameters) => (xml: string) => ({
      Action: `Delete${Kind}Policy`,
      ...of,
      PolicyName: textOf(xml, 'member')!,
    });
    return {
      ListUserTags: { of: holder, items: 3, remove: untag('User', holder) },
      ListRoleTags: { of: role, items: 3, remove: untag('Role', role) },
      ListPolicyTags: { of: policy, items: 3, remove: untag('Policy', policy) },
      ListOpenIDConnectProviderTags: { of: its, items: 3, remove: untag('OpenIDConnectProvider', its) },
      SimulatePrincipalPolicy: {
        of: {
          PolicySourceArn: arn('user/holder'),
          ...Object.fromEntries(['s3:GetObject', 's3:PutObject', 's3:GetObject'].map(numbered('ActionNames'))),
          ...Object.fromEntries(['arn:aws:s3:::one/*', 'arn:aws:s3:::two/*'].map(numbered('ResourceArns'))),
        },
        items: 6,
      },
      ListAccessKeys: {
        of: holder,
        items: 2,
        remove: (xml) => ({ Action: 'DeleteAccessKey', ...holder, AccessKeyId: textOf(xml, 'AccessKeyId')! }),
      },
      ListUserPolicies: { of: holder, items: 3, remove: drop('User', holder) },
      ListGroupPolicies: { of: crew, items: 3, remove: drop('Group', crew) },
      ListRolePolicies: { of: role, items: 3, remove: drop('Role', role) },
      ListEntitiesForPolicy: {
        of: policy,
        items: 3,
        remove: () => ({ Action: 'DetachGroupPolicy', ...crew, ...policy }),
      },
      ListAttachedUserPolicies: { of: holder, items: 3, remove: detach('User', holder) },
      ListAttachedGroupPolicies: {
        of: { GroupName: 'outer' },
        items: 3,
        remove: detach('Group', { GroupName: 'outer' }),
      },
      ListAttachedRolePolicies: { of: role, items: 3, remove: detach('Role', role) },
      ListPolicyVersions: {
        of: policy,
        items: 3,
        remove: (xml) => ({ Action: 'DeletePolicyVersion', ...policy, VersionId: textOf(xml, 'VersionId')! }),
      },
      ListGroupsForUser: {
        of: holder,
        items: 3,
        remove: (xml) => ({ Action: 'RemoveUserFromGroup', ...holder, GroupName: textOf(xml, 'GroupName')! }),
      },
      GetGroup: {
        of: crew,
        items: 3,
        remove: (xml) => ({ Action: 'RemoveUserFromGroup', ...crew, UserName: textOf(xml, 'UserName')! }),
      },
      ListUsers: {
        of: {},
        items: 5,
        remove: () => ({ Action: 'DeleteUser', UserName: 'a.first' }),
      },
      ListGroups: { of: {}, items: 4, remove: () => ({ Action: 'DeleteGroup', GroupName: 'a.first' }) },
      ListRoles: { of: {}, items: 3, remove: () => ({ Action: 'DeleteRole', RoleName: 'a.first' }) },
      ListPolicies: {
        of: { Scope: 'Local' },
        items: 3,
        remove: () => ({ Action: 'DeletePolicy', PolicyArn: arn('policy/a.first') }),
      },
    };
  };
  const numbered = (list: string) => (value: string, at: number) => [`${list}.member.${at + 1}`, value] as const;

  /** What does not exist here, and has no second page. */
  const empty: Readonly<Record<string, Parameters>> = {
    ListAccountAliases: {},
    ListVirtualMFADevices: {},
    ListMFADevices: { UserName: 'holder' },
    ListSSHPublicKeys: { UserName: 'holder' },
    ListSigningCertificates: { UserName: 'holder' },
    ListServiceSpecificCredentials: { UserName: 'holder' },
    ListInstanceProfilesForRole: { RoleName: 'holder' },
  };
  const asked = (): Readonly<Record<string, Parameters>> => ({
    ...Object.fromEntries(Object.entries(listings()).map(([name, { of }]) => [name, of])),
    ...empty,
  });

  beforeAll(async () => {
    owner = await makeKey(service.place, `shop:owner@${bucketName()}`);
    stranger = await makeKey(service.place, `shop:owner@${bucketName()}`);
    const labels = Object.fromEntries(
      tags.flatMap((Key, at) => [
        [`Tags.member.${at + 1}.Key`, Key],
        [`Tags.member.${at + 1}.Value`, ''],
      ]),
    );
    const made = await done('CreateUser', { UserName: 'holder', ...labels });
    account = /iam::(\d{12}):/.exec(made.text)![1]!;
    for (const UserName of ['a.first', 'Zeta', 'mate', 'Third']) await done('CreateUser', { UserName });
    for (const GroupName of ['a.first', 'crew', 'outer', 'Upper']) await done('CreateGroup', { GroupName });
    const AssumeRolePolicyDocument = trusting('*');
    await done('CreateRole', { RoleName: 'holder', AssumeRolePolicyDocument, ...labels });
    for (const RoleName of ['a.first', 'Upper']) await done('CreateRole', { RoleName, AssumeRolePolicyDocument });
    const PolicyDocument = allowing('s3:Get*');
    await done('CreatePolicy', { PolicyName: 'FullAccess', PolicyDocument, ...labels });
    for (const PolicyName of ['a.first', 'Upper']) await done('CreatePolicy', { PolicyName, PolicyDocument });
    for (const _ of [2, 3]) await done('CreatePolicyVersion', { PolicyArn: arn(own), PolicyDocument });
    await done('CreateOpenIDConnectProvider', { Url: `https://${provider}`, ...labels });
    for (const _ of [1, 2]) await done('CreateAccessKey', { UserName: 'holder' });
    for (const UserName of ['holder', 'mate', 'Zeta']) await done('AddUserToGroup', { GroupName: 'crew', UserName });
    for (const GroupName of ['outer', 'Upper']) await done('AddUserToGroup', { GroupName, UserName: 'holder' });
    // Names that differ in their case alone, and policies of the project and of AWS with the same name.
    for (const PolicyName of ['p', 'P', 'q']) {
      for (const of of [{ UserName: 'holder' }, { GroupName: 'crew' }, { RoleName: 'holder' }])
        await done(`Put${Object.keys(of)[0]!.replace('Name', '')}Policy`, {
          ...of,
          PolicyName,
          PolicyDocument,
        });
    }
    for (const PolicyArn of [arn(own), shared, arn('policy/Upper')]) {
      for (const of of [{ UserName: 'holder' }, { GroupName: 'outer' }, { RoleName: 'holder' }])
        await done(`Attach${Object.keys(of)[0]!.replace('Name', '')}Policy`, { ...of, PolicyArn });
    }
    await done('DetachGroupPolicy', { GroupName: 'outer', PolicyArn: arn(own) });
    await done('AttachGroupPolicy', { GroupName: 'outer', PolicyArn: 'arn:aws:iam::aws:policy/IAMReadOnlyAccess' });
    await done('AttachGroupPolicy', { GroupName: 'crew', PolicyArn: arn(own) });
  });

  /** Returns the pages of a listing, in parts of one item. */
  const pages = async (Action: string, of: Parameters, key = owner) => {
    const found = [];
    let Marker: string | undefined;
    do {
      const more = { ...(Marker !== undefined && { Marker }) };
      const page = pageOf(await done(Action, { ...of, MaxItems: '1', ...more }, key));
      found.push(page);
      Marker = page.marker;
    } while (Marker !== undefined && found.length < 20);
    return found;
  };

  const refusal = async (Action: string, parameters: Parameters) => {
    const { status, text } = await send({ Action, ...parameters });
    return [status, textOf(text, 'Code'), textOf(text, 'Message')];
  };

  it('are all looked at here', () => {
    const all = administrativeActions.flatMap((name) => (/^iam:List/.test(name) ? [name.slice('iam:'.length)] : []));
    // That of the providers has no pages in AWS either.
    const known = [...Object.keys(asked()), 'ListOpenIDConnectProviders'];
    expect(known).toEqual(expect.arrayContaining(all));
  });

  it('have each item once, in pages of one', async () => {
    for (const [name, { of, items }] of Object.entries(listings())) {
      const whole = pageOf(await done(name, { ...of, MaxItems: '1000' }));
      expect(whole.marker, name).toBeUndefined();
      expect(whole.items, name).toHaveLength(items);
      const found = await pages(name, of);
      expect(
        found.map((page) => page.items),
        name,
      ).toEqual(whole.items.map((item) => [item]));
    }
    expect((await pages('ListPolicies', {})).flatMap(({ items }) => items)).toHaveLength(3 + 7);
    for (const [name, of] of Object.entries(empty))
      expect(pageOf(await done(name, { ...of, MaxItems: '1' })), name).toEqual({ items: [], marker: undefined });
  });

  it('have as many items as AWS has', async () => {
    const refused = (value: string, bound: string) => [
      400,
      'ValidationError',
      `1 validation error detected: Value '${value}' at 'maxItems' failed to satisfy constraint: ${bound}`,
    ];
    for (const [name, of] of Object.entries(asked())) {
      expect(await refusal(name, { ...of, MaxItems: '0' }), name).toEqual(
        refused('0', 'Member must have value greater than or equal to 1'),
      );
      expect(await refusal(name, { ...of, MaxItems: '1001' }), name).toEqual(
        refused('1001', 'Member must have value less than or equal to 1000'),
      );
    }
    for (const MaxItems of ['', 'x', '1.5', '1e1', '-1', ' 1', '99999999999999999999'])
      expect((await refusal('ListUsers', { MaxItems })).slice(0, 2), MaxItems).toEqual([400, 'ValidationError']);
  });

  it('refuse every marker but their own', async () => {
    const invalid = [400, 'ValidationError', 'Invalid Marker.'];
    const text = (of: string | Uint8Array): string => Buffer.from(of as string).toString('base64url');
    for (const [name, of] of Object.entries(asked())) {
      const another = name === 'ListUsers' ? 'ListGroups' : 'ListUsers';
      const foreign = (await pages(another, {}))[0]!.marker!;
      const made = [
        'AAAA',
        '\u0000\u0001',
        'é',
        foreign,
        text(`${name}`),
        text(`${name}:`),
        text(`${name}:\u0000`),
        text(`${name}:a/../b\n`),
        text('v2'),
        text(Buffer.from([...Buffer.from(`${name}:`), 0xff])),
      ];
      for (const Marker of made) expect(await refusal(name, { ...of, Marker }), `${name} ${Marker}`).toEqual(invalid);
      expect((await refusal(name, { ...of, Marker: '' })).slice(0, 2), name).toEqual([400, 'ValidationError']);
      expect((await refusal(name, { ...of, Marker: 'A'.repeat(1001) })).slice(0, 2), name).toEqual([
        400,
        'ValidationError',
      ]);
    }
    // Nor do they take another spelling of it.
    for (const [name, { of }] of Object.entries(listings())) {
      const { marker } = (await pages(name, of))[0]!;
      const spellings = [`${marker}=`, ` ${marker}`, `${marker}%`, `${marker!.slice(0, 4)}\n${marker!.slice(4)}`];
      for (const Marker of spellings) expect(await refusal(name, { ...of, Marker }), name).toEqual(invalid);
    }
  });

  it('give with the marker of another project what they have themselves', async () => {
    for (const UserName of ['b', 'n', 'zz']) await done('CreateUser', { UserName }, stranger);
    const [first] = await pages('ListUsers', {});
    const Marker = first!.marker!;
    const found = pageOf(await done('ListUsers', { Marker }, stranger));
    expect(found.items.map((item) => textOf(item, 'UserName'))).toEqual(['b', 'n', 'zz']);
    expect((await send({ Action: 'ListUserPolicies', UserName: 'b', Marker }, stranger)).status).toBe(400);
  });

  it('go on where they were, though the item of the marker is gone', async () => {
    for (const [name, { of, remove }] of Object.entries(listings())) {
      if (remove === undefined) continue;
      const [first, ...others] = await pages(name, of);
      const { Action, ...parameters } = remove(first!.items[0]!);
      await done(Action!, parameters);
      const rest = pageOf(await done(name, { ...of, Marker: first!.marker! }));
      const before = others.flatMap(({ items }) => items);
      expect(rest.items, name).toEqual(before);
      expect(pageOf(await done(name, of)).items, name).toEqual(before);
    }
  });
});
