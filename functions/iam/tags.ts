import type { Entry, Provider, Tags } from '../../shared/accounts/directory.ts';
import { tagPage } from '../../shared/documents/iam.ts';
import { called, type Parameter } from '../../shared/protocol/query-api/parameters.ts';
import { iamAction, type IamContext, type Subject } from './iam-action.ts';
import { arnText, nameText, readTags, tagKeys, tagList } from './inputs.ts';
import { byTag, listing } from './listings.ts';
import { existingProvider } from './providers.ts';
import { maxTags } from './quotas.ts';
import { limitExceeded } from './refusals.ts';
import { shownTags } from './shown.ts';
import { boundsOf, boundsOfPolicy, existing, existingPolicy, ownPolicy } from './subjects.ts';

type Tagged = Entry | Provider;

interface Kind {
  /** How the request names it. */
  readonly of: Parameter<string>;
  find(this: void, name: string, context: IamContext): Promise<Subject<Tagged>>;
  findOwn(this: void, name: string, context: IamContext): Promise<Subject<Tagged>>;
}

const tagged: Readonly<Record<'User' | 'Role' | 'Policy' | 'OpenIDConnectProvider', Kind>> = {
  User: carrier('user'),
  Role: carrier('role'),
  Policy: { of: called('PolicyArn', arnText), find: existingPolicy, findOwn: ownPolicy },
  OpenIDConnectProvider: {
    of: called('OpenIDConnectProviderArn', arnText),
    find: existingProvider,
    findOwn: existingProvider,
  },
};

function carrier(kind: 'user' | 'role'): Kind {
  const find: Kind['find'] = (name, context) => existing(kind, name, context);
  return { of: called(kind === 'user' ? 'UserName' : 'RoleName', nameText(64)), find, findOwn: find };
}

/** The actions on the tags of users, roles, policies or providers. */
export function tagActions(Kind: keyof typeof tagged) {
  const { of, find, findOwn } = tagged[Kind];
  const itsTags = listing(`List${Kind}Tags`, byTag);
  const boundsOfIt = (it: Tagged, context: IamContext) => {
    if (it.kind === 'provider') return [undefined];
    return it.kind === 'policy' ? boundsOfPolicy(it, context) : boundsOf(it, context);
  };

  const tag = iamAction({
    name: `Tag${Kind}`,
    parameters: { name: of, Tags: tagList },
    about: ({ name }, context) => findOwn(name, context),
    bounds: (it, _, context) => boundsOfIt(it, context),
    act: (it, { Tags: given }, { directory }) => {
      const added = readTags(given);
      const tags = [
        ...without(
          it.tags,
          added.map(([key]) => key),
        ),
        ...added,
      ];
      if (tags.length > maxTags) throw limitExceeded(`TagsPer${Kind}`, maxTags);
      directory.change(it, { tags });
    },
  });

  const untag = iamAction({
    name: `Untag${Kind}`,
    parameters: { name: of, TagKeys: tagKeys },
    about: ({ name }, context) => findOwn(name, context),
    bounds: (it, _, context) => boundsOfIt(it, context),
    act: (it, { TagKeys }, { directory }) => directory.change(it, { tags: without(it.tags, TagKeys) }),
  });

  const list = iamAction({
    name: `List${Kind}Tags`,
    parameters: { name: of, ...itsTags.parameters },
    about: ({ name }, context) => find(name, context),
    act: (it, input) => {
      const { items, ...page } = itsTags.page(it.tags, input);
      return { ...page, items: shownTags(items) };
    },
    result: tagPage,
  });

  return [tag, untag, list];
}

/** Keys are the same whatever their case. */
function without(tags: Tags, keys: readonly string[]): Tags {
  const gone = new Set(keys.map((key) => key.toLowerCase()));
  return tags.filter(([key]) => !gone.has(key.toLowerCase()));
}
