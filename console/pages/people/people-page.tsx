import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { createUserDialog } from './create-user.tsx';
import { KeyWords } from './keys-section.tsx';
import { wordsOfManaged, wordsOfPolicy } from './policy-words.ts';
import { Refused } from './refused.tsx';
import { UserPage } from './user-page.tsx';
import { iamCommand } from '../../format/commands.ts';
import { visibleName } from '../../format/names.ts';
import { people } from '../../messages/people.ts';
import type { S3Client } from '../../s3/client.ts';
import { changes, listAttached, listGroups, listInline, listKeys, listUsers, type AccessKey } from '../../s3/iam.ts';
import { addressOf } from '../../session/router.ts';
import { config, session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { CommandLine } from '../../ui/command-line.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, Empty } from '../../ui/notices.tsx';
import { useSeen } from '../../ui/seen.ts';

type Users = Awaited<ReturnType<typeof listUsers>>;

/** The users of the project, or one of them. */
export function PeoplePage({ user }: { readonly user?: string }) {
  return user === undefined ? <UsersPage /> : <UserPage key={user} user={user} />;
}

function UsersPage() {
  const { client } = session.value!;
  const texts = people.value;
  const { value: first, error, reload } = useLoaded(() => listUsers(client), [client]);
  const [further, setFurther] = useState<readonly Users[]>([]);
  useEffect(() => setFurther([]), [first]);
  const pages = first === undefined ? [] : [first, ...further];
  const users = pages.flatMap(({ items }) => items);
  const next = pages.at(-1)?.next;
  const showMore = (): Promise<unknown> =>
    attempt(async () => {
      const page = await listUsers(client, next);
      setFurther((before) => [...before, page]);
    });
  return (
    <div class="page">
      <div class="page-head">
        <h1>{texts.title}</h1>
        {first !== undefined && (
          <Button kind="primary" icon="plus" onClick={() => void createUserDialog()}>
            {texts.create}
          </Button>
        )}
      </div>
      {error !== undefined && <Refused error={error} retry={reload} />}
      {first === undefined && error === undefined && <div class="skeleton" />}
      {first !== undefined && <p class="muted page-hint">{texts.hint}</p>}
      {first !== undefined && users.length === 0 && (
        <Empty title={texts.none}>
          <p>{texts.noneMeaning}</p>
          <CommandLine command={iamCommand(config.value!, changes.createUser('ci'))} />
        </Empty>
      )}
      {users.length > 0 && (
        <table class="people">
          <thead>
            <tr>
              <th>{texts.user}</th>
              <th class="hide-narrow">{texts.groups}</th>
              <th>{texts.may}</th>
              <th class="hide-narrow">{texts.keys}</th>
            </tr>
          </thead>
          <tbody>
            {users.map(({ UserName }) => (
              <UserRow key={UserName} user={UserName!} />
            ))}
          </tbody>
        </table>
      )}
      {next !== undefined && (
        <div class="row page-more">
          <Button onClick={() => void showMore()}>{texts.more}</Button>
        </div>
      )}
    </div>
  );
}

/** What is shown of a user in the list; null if the caller may not see it. */
interface Known {
  readonly groups?: readonly string[] | null;
  readonly may?: readonly string[] | null;
  readonly keys?: readonly AccessKey[] | null;
}

function UserRow({ user }: { readonly user: string }) {
  const { client } = session.value!;
  const [known, setKnown] = useState<Known>({});
  const learn = <K extends keyof Known>(name: K, asked: Promise<Known[K]>): void =>
    void asked.catch(() => null).then((value) => setKnown((before) => ({ ...before, [name]: value })));
  const row = useSeen<HTMLTableRowElement>(() => {
    learn('groups', listGroups(client, user));
    learn('keys', listKeys(client, user));
    learn('may', policiesOf(client, user));
  });
  const { groups, may, keys } = known;
  return (
    <tr ref={row}>
      <td>
        <a class="wrap-anywhere" href={addressOf({ page: 'people', user })}>
          {visibleName(user)}
        </a>
      </td>
      <td class="hide-narrow">
        <Cell of={groups}>{(each) => visibleName(each)}</Cell>
      </td>
      <td>
        <Cell of={may}>{(each) => each}</Cell>
      </td>
      <td class="hide-narrow">
        <Cell of={keys}>{(each) => <KeyWords of={each} />}</Cell>
      </td>
    </tr>
  );
}

/** The policies of a user in words. */
async function policiesOf(client: S3Client, user: string): Promise<readonly string[]> {
  const [inline, attached] = await Promise.all([listInline(client, user), listAttached(client, user)]);
  return [
    ...inline.flatMap(({ text }) => wordsOfPolicy(text)),
    ...attached.map(({ PolicyArn, PolicyName }) => wordsOfManaged(PolicyArn) ?? visibleName(PolicyName)),
  ];
}

/** A line for each of some things; a stand-in while they are loaded. */
function Cell<Item>({
  of: items,
  children,
}: {
  readonly of: readonly Item[] | null | undefined;
  readonly children: (item: Item) => ComponentChildren;
}) {
  if (items === undefined) return <div class="skeleton" />;
  if (items === null) return <span class="muted">{people.value.unknown}</span>;
  if (items.length === 0) return <span class="muted">–</span>;
  return items.map((item, index) => <div key={index}>{children(item)}</div>);
}
