import type { Provider } from '../../shared/accounts/directory.ts';
import { aProvider, newProvider, providers } from '../../shared/documents/iam.ts';
import { called, list, text } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction, type IamContext, type Subject } from './iam-action.ts';
import { arnText, readTags, tags } from './inputs.ts';
import { quotas } from './quotas.ts';
import { alreadyExists, invalidInput, limitExceeded, noSuchProvider } from './refusals.ts';
import { shownTags } from './shown.ts';
import { theAccount } from './subjects.ts';

const clientId = text({ least: 1, most: 255 });
const thumbprint = text({ least: 40, most: 40, form: /^[0-9A-Fa-f]*$/ });
const thumbprints = list(thumbprint, 1000);
const maxThumbprints = 5;
const of = { arn: called('OpenIDConnectProviderArn', arnText) };

/**
 * Who has a permissions boundary changes no provider: whoever it speaks for may assume the roles that trust it, of which some may be without
 * the boundary.
 */
const nobodysBounds = () => [undefined];

/** @throws S3Error InvalidInput */
function checkThumbprints(given: readonly string[]): void {
  if (given.length > maxThumbprints) throw invalidInput('Thumbprint list must contain fewer than 5 entries.');
}

/** @throws S3Error LimitExceeded */
function checkClients(clients: readonly string[]): void {
  const limit = quotas.ClientIDsPerProvider;
  if (clients.length > limit) throw limitExceeded('ClientIdsPerOpenIdConnectProvider', limit);
}

/** A provider that is there. */
export async function existingProvider(arn: string, { directory }: IamContext): Promise<Subject<Provider>> {
  return { arn, it: await directory.provider(arn), missing: () => noSuchProvider(arn) };
}

/** Returns a URL without its scheme, as ARNs have it. It is compared as it is, byte by byte. @throws S3Error InvalidInput */
function nameOf(text: string): string {
  const name = text.startsWith('https://') ? text.slice('https://'.length) : '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.href === text || url?.href === `${text}/`;
  if (name === '' || !isPlain || url.search !== '' || url.hash !== '' || `${url.username}${url.password}` !== '')
    throw invalidInput('Invalid Open ID Connect Provider URL');
  return name;
}

const createProvider = iamAction({
  name: 'CreateOpenIDConnectProvider',
  parameters: {
    Url: text({ least: 1, most: 255 }),
    ClientIDList: list(clientId, 1000),
    ThumbprintList: thumbprints,
    Tags: tags,
  },
  about: ({ Url }, { directory }) => ({ arn: directory.providerArn(nameOf(Url)), it: true as const }),
  bounds: nobodysBounds,
  act: async (_, { Url, ClientIDList, ThumbprintList, Tags }, { directory, clock }) => {
    const name = nameOf(Url);
    const all = await directory.providers();
    if (all.some((one) => one.name.toLowerCase() === name.toLowerCase())) throw alreadyExists('provider', Url);
    const limit = quotas.OIDCProvidersQuota;
    if (all.length >= limit) throw limitExceeded('OpenIDConnectProvidersPerAccount', limit);
    const its = readTags(Tags);
    const clients = [...new Set(ClientIDList)];
    checkThumbprints(ThumbprintList);
    checkClients(clients);
    directory.add(directory.newKey('provider', name), {
      created: clock.now(),
      clients,
      thumbprints: ThumbprintList,
      tags: its,
    });
    return {
      OpenIDConnectProviderArn: directory.providerArn(name),
      Tags: its.length === 0 ? undefined : shownTags(its),
    };
  },
  result: newProvider,
});

const getProvider = iamAction({
  name: 'GetOpenIDConnectProvider',
  parameters: of,
  about: ({ arn }, context) => existingProvider(arn, context),
  act: ({ name, clients, thumbprints: its, created, tags: tagged }) => ({
    Url: name,
    ClientIDList: clients,
    ThumbprintList: its,
    CreateDate: created,
    Tags: tagged.length === 0 ? undefined : shownTags(tagged),
  }),
  result: aProvider,
});

const listProviders = iamAction({
  name: 'ListOpenIDConnectProviders',
  parameters: {},
  about: theAccount,
  act: async (_, __, { directory }) => ({ items: (await directory.providers()).map(({ arn: Arn }) => ({ Arn })) }),
  result: providers,
});

const updateThumbprints = iamAction({
  name: 'UpdateOpenIDConnectProviderThumbprint',
  parameters: { ...of, ThumbprintList: thumbprints },
  about: ({ arn }, context) => existingProvider(arn, context),
  bounds: nobodysBounds,
  act: (it, { ThumbprintList }, { directory }) => {
    checkThumbprints(ThumbprintList);
    directory.change(it, { thumbprints: ThumbprintList });
  },
});

const addClient = iamAction({
  name: 'AddClientIDToOpenIDConnectProvider',
  parameters: { ...of, ClientID: clientId },
  about: ({ arn }, context) => existingProvider(arn, context),
  bounds: nobodysBounds,
  act: (it, { ClientID }, { directory }) => {
    const clients = [...new Set([...it.clients, ClientID])];
    checkClients(clients);
    directory.change(it, { clients });
  },
});

const removeClient = iamAction({
  name: 'RemoveClientIDFromOpenIDConnectProvider',
  parameters: { ...of, ClientID: clientId },
  about: ({ arn }, context) => existingProvider(arn, context),
  bounds: nobodysBounds,
  act: (it, { ClientID }, { directory }) =>
    directory.change(it, { clients: it.clients.filter((one) => one !== ClientID) }),
});

/** As AWS says, it does not fail if there is none. */
const deleteProvider = iamAction({
  name: 'DeleteOpenIDConnectProvider',
  parameters: of,
  about: ({ arn }) => ({ arn, it: true as const }),
  bounds: nobodysBounds,
  act: async (_, { arn }, { directory }) => {
    const it = await directory.provider(arn);
    if (it) directory.remove(it);
  },
});

export const providerActions = [
  createProvider,
  getProvider,
  listProviders,
  updateThumbprints,
  addClient,
  removeClient,
  deleteProvider,
];
