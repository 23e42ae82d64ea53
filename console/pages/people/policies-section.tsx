import { choose } from './choose.tsx';
import { confirm } from './confirm.tsx';
import { editPolicy } from './policy-dialog.tsx';
import { nameOfArn, wordsOfManaged, wordsOfPolicy } from './policy-words.ts';
import { visibleName } from '../../format/names.ts';
import { t } from '../../messages/messages.ts';
import { people } from '../../messages/people.ts';
import {
  changes,
  listAttached,
  listInline,
  listPolicies,
  type Attached,
  type Inline,
  type User,
} from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useLoaded } from '../../ui/loaded.ts';
import { attempt, ErrorBox } from '../../ui/notices.tsx';

/** The policies of a user, in words: written here, or managed ones that are attached. */
export function PoliciesSection({ user, onChanged }: { readonly user: User; readonly onChanged: () => void }) {
  const { client } = session.value!;
  const name = user.UserName!;
  const texts = people.value;
  const { value, error, reload } = useLoaded(async () => {
    const [inline, attached] = await Promise.all([listInline(client, name), listAttached(client, name)]);
    return { inline, attached };
  }, [client, name]);
  const changed = (isChanged: boolean): void => {
    if (!isChanged) return;
    reload();
    onChanged();
  };
  const edit = async (before?: Inline): Promise<void> => changed(await editPolicy(user, value!.inline, before));
  const removeInline = async (policy: Inline): Promise<void> =>
    changed(
      await confirm({
        title: texts.removePolicyTitle(policy.name),
        submit: texts.removePolicy,
        danger: true,
        content: <p>{texts.removeInlineMeaning}</p>,
        actions: [changes.deletePolicy(name, policy.name)],
      }),
    );
  const attach = (): Promise<unknown> =>
    attempt(async () => {
      const has = new Set(value!.attached.map(({ PolicyArn }) => PolicyArn));
      const others = (await listPolicies(client)).filter(({ PolicyArn }) => !has.has(PolicyArn));
      changed(
        await choose({
          title: texts.attach,
          label: texts.managedPolicy,
          submit: texts.attachSubmit,
          options: others.map(({ PolicyName, PolicyArn }) => {
            const words = wordsOfManaged(PolicyArn);
            return [PolicyArn, words === undefined ? visibleName(PolicyName) : `${PolicyName}: ${words}`];
          }),
          ifNone: texts.attachNone,
          actionOf: (arn) => changes.attach(name, arn),
        }),
      );
    });
  const detach = async ({ PolicyArn, PolicyName }: Attached): Promise<void> =>
    changed(
      await confirm({
        title: texts.removePolicyTitle(PolicyName),
        submit: texts.removePolicy,
        content: <p>{texts.detachMeaning}</p>,
        actions: [changes.detach(name, PolicyArn)],
      }),
    );
  return (
    <section class="stack tight" aria-labelledby="policies-title">
      <div class="section-head wrap">
        <h2 id="policies-title">{texts.policies}</h2>
        <div class="row wrap">
          <Button icon="link" disabled={value === undefined} onClick={() => void attach()}>
            {texts.attach}
          </Button>
          <Button icon="plus" disabled={value === undefined} onClick={() => void edit()}>
            {texts.addPolicy}
          </Button>
        </div>
      </div>
      <p class="hint">{texts.policiesHint}</p>
      {error !== undefined && <ErrorBox error={error} retry={reload} />}
      {value !== undefined && value.inline.length + value.attached.length === 0 && <p>{texts.noPolicies}</p>}
      {value?.inline.map((policy) => (
        <div class="rule" role="group" key={policy.name} aria-label={policy.name}>
          <div class="grow">
            <span class="row wrap">
              <strong class="wrap-anywhere">{visibleName(policy.name)}</strong>
              <span class="badge">{texts.own}</span>
            </span>
            {wordsOfPolicy(policy.text).map((words, index) => (
              <div class="muted wrap-anywhere" key={index}>
                {words}
              </div>
            ))}
          </div>
          <Button kind="quiet" label={texts.editNamed(policy.name)} onClick={() => void edit(policy)}>
            {t.value.details.edit}
          </Button>
          <Button icon="trash" tip={texts.removePolicyNamed(policy.name)} onClick={() => void removeInline(policy)} />
        </div>
      ))}
      {value?.attached.map((policy) => (
        <div class="rule" role="group" key={policy.PolicyArn} aria-label={policy.PolicyName}>
          <div class="grow">
            <span class="row wrap">
              <strong class="wrap-anywhere">{visibleName(policy.PolicyName)}</strong>
              <span class="badge">{texts.managed}</span>
            </span>
            <div class="muted wrap-anywhere">{wordsOfManaged(policy.PolicyArn) ?? nameOfArn(policy.PolicyArn)}</div>
          </div>
          <Button icon="trash" tip={texts.removePolicyNamed(policy.PolicyName)} onClick={() => void detach(policy)} />
        </div>
      ))}
    </section>
  );
}
