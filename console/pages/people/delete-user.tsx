import { confirm } from './confirm.tsx';
import { number } from '../../messages/messages.ts';
import { people } from '../../messages/people.ts';
import { changes, listAttached, listGroups, listInline, listKeys } from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { attempt } from '../../ui/notices.tsx';

/** Deletes a user with all that keeps them from being deleted, after saying what that is. Returns whether it did. */
export async function deleteUserDialog(user: string): Promise<boolean> {
  const { client } = session.value!;
  const texts = people.value;
  let isDeleted = false;
  await attempt(async () => {
    const [keys, inline, attached, groups] = await Promise.all([
      listKeys(client, user),
      listInline(client, user),
      listAttached(client, user),
      listGroups(client, user),
    ]);
    const goes = [
      [keys, texts.countKeys],
      [inline, texts.countInline],
      [attached, texts.countAttached],
      [groups, texts.countGroups],
    ] as const;
    const held = goes.filter(([{ length }]) => length > 0);
    isDeleted = await confirm(
      {
        title: texts.removeTitle(user),
        submit: texts.remove,
        danger: true,
        content: (
          <>
            <p>{held.length === 0 ? texts.removeNothing : texts.removeGoes}</p>
            {held.length > 0 && (
              <ul class="goes">
                {held.map(([{ length }, words]) => (
                  <li key={words(length, number(length))}>{words(length, number(length))}</li>
                ))}
              </ul>
            )}
            <p>{texts.removeMeaning}</p>
          </>
        ),
        actions: [
          // Keys first: nobody works with rights that are half gone.
          ...keys.map(({ AccessKeyId }) => changes.deleteKey(user, AccessKeyId)),
          ...inline.map(({ name }) => changes.deletePolicy(user, name)),
          ...attached.map(({ PolicyArn }) => changes.detach(user, PolicyArn)),
          ...groups.map((group) => changes.removeFromGroup(user, group)),
          changes.deleteUser(user),
        ],
      },
      texts.removed(user),
    );
  });
  return isDeleted;
}
