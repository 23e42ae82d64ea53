import { confirm } from './confirm.tsx';
import { people } from '../../messages/people.ts';
import { changes, createKey, type NewKey } from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { CommandLine } from '../../ui/command-line.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';

/** Makes a key after a question, and shows its secret once. @param old the key that it replaces, which still works */
export async function createKeyDialog(user: string, old?: string): Promise<void> {
  const { client } = session.value!;
  const texts = people.value;
  let made: NewKey | undefined;
  await confirm(
    {
      title: old === undefined ? texts.createKeyTitle(user) : texts.rotateTitle(old),
      submit: old === undefined ? texts.createKey : texts.rotateSubmit,
      content: <p>{old === undefined ? texts.createKeyMeaning : texts.rotateMeaning}</p>,
      actions: [changes.createKey(user)],
      act: async () => {
        made = await createKey(client, user);
      },
    },
    '',
  );
  if (made !== undefined) await showSecret(made, old);
}

/** Shows the secret of a new key, which is let go when the dialog is closed. */
export async function showSecret({ UserName, AccessKeyId, SecretAccessKey }: NewKey, old?: string): Promise<void> {
  const texts = people.value;
  await ask<void>((answer) => (
    <DialogForm
      commands="none"
      title={texts.secretTitle(UserName)}
      submit={texts.secretDone}
      isOnlyClosed
      onSubmit={() => answer()}
    >
      <p class="note-box">{texts.secretMeaning}</p>
      <CommandLine command={AccessKeyId} label={texts.keyId} />
      <CommandLine command={SecretAccessKey} label={texts.secret} />
      {old !== undefined && <p>{texts.secretOld(old)}</p>}
    </DialogForm>
  ));
}
