import { choose } from './choose.tsx';
import { confirm } from './confirm.tsx';
import { visibleName } from '../../format/names.ts';
import { people } from '../../messages/people.ts';
import { changes, listGroups } from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox } from '../../ui/notices.tsx';

/** The groups of a user. */
export function GroupsSection({ user, onChanged }: { readonly user: string; readonly onChanged: () => void }) {
  const { client } = session.value!;
  const texts = people.value;
  const { value: groups, error, reload } = useLoaded(() => listGroups(client, user), [client, user]);
  const changed = (isChanged: boolean): void => {
    if (!isChanged) return;
    reload();
    onChanged();
  };
  const add = (): Promise<unknown> =>
    attempt(async () => {
      const others = (await listGroups(client)).filter((each) => !groups!.includes(each));
      changed(
        await choose({
          title: texts.addToGroup,
          label: texts.group,
          submit: texts.addSubmit,
          options: others.map((each) => [each, visibleName(each)]),
          ifNone: texts.noOtherGroups,
          actionOf: (group) => changes.addToGroup(user, group),
        }),
      );
    });
  const leave = async (group: string): Promise<void> =>
    changed(
      await confirm({
        title: texts.leaveTitle(group),
        submit: texts.leave,
        content: <p>{texts.leaveMeaning}</p>,
        actions: [changes.removeFromGroup(user, group)],
      }),
    );
  return (
    <section class="stack tight" aria-labelledby="groups-title">
      <div class="section-head">
        <h2 id="groups-title">{texts.groups}</h2>
        <Button icon="plus" disabled={groups === undefined} onClick={() => void add()}>
          {texts.addToGroup}
        </Button>
      </div>
      {error !== undefined && <ErrorBox error={error} retry={reload} />}
      {groups !== undefined && (
        <p class={groups.length === 0 ? '' : 'hint'}>{groups.length === 0 ? texts.noGroups : texts.groupHint}</p>
      )}
      {groups?.map((group) => (
        <div class="rule" role="group" key={group} aria-label={group}>
          <strong class="grow wrap-anywhere">{visibleName(group)}</strong>
          <Button icon="trash" tip={texts.leaveNamed(group)} onClick={() => void leave(group)} />
        </div>
      ))}
    </section>
  );
}
