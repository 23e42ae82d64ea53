import { commandsOf } from './confirm.tsx';
import { showSecret } from './new-key.tsx';
import { sharedArn } from './policy-words.ts';
import { ShortFormFields } from './short-form.tsx';
import { people } from '../../messages/people.ts';
import { changes, createKey, perform } from '../../s3/iam.ts';
import type { IamAction } from '../../s3/iam-action.ts';
import { go } from '../../session/router.ts';
import { session } from '../../session/session.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm, useSaving } from '../../ui/form.ts';
import { attempt, ErrorBox, notify } from '../../ui/notices.tsx';
import { named, Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { shortPolicy, type Access } from '../../../shared/documents/short-policy.ts';

const accesses = ['limited', 'AmazonS3ReadOnlyAccess', 'AmazonS3FullAccess', 'nothing'] as const;
type Given = (typeof accesses)[number];

interface Made {
  readonly user: string;
  /** What is still to be done for the user. */
  readonly rights: readonly IamAction[];
  readonly withKey: boolean;
}

/** Makes a user with rights and a key, and goes to their page. */
export async function createUserDialog(): Promise<void> {
  const { client } = session.value!;
  const made = await ask<Made>((answer) => <CreateUser onMade={answer} />);
  if (made === undefined) return;
  const { user, rights, withKey } = made;
  // The user is there now: what fails from here on is done on their page.
  await attempt(async () => {
    await perform(client, rights);
    notify(people.value.createdNotice(user));
    if (withKey) await showSecret(await createKey(client, user));
  });
  go({ page: 'people', user });
}

function CreateUser({ onMade }: { readonly onMade: (made: Made) => void }) {
  const { client } = session.value!;
  const texts = people.value;
  const { values, field } = useForm(() => ({
    name: '',
    given: 'limited' as Given,
    bucket: '',
    prefix: '',
    access: 'read' as Access,
    withKey: true,
  }));
  const { failure, busy, save } = useSaving();
  const { given, bucket, prefix, access, withKey } = values;
  const user = values.name.trim();
  const isBad = user !== '' && !/^[\w+=,.@-]{1,64}$/.test(user);
  const isReady = user !== '' && !isBad && (given !== 'limited' || bucket !== '');
  const rights = !isReady
    ? []
    : given === 'limited'
      ? [changes.putPolicy(user, { name: 'access', text: shortPolicy(bucket, prefix, access) })]
      : given === 'nothing'
        ? []
        : [changes.attach(user, sharedArn(given))];
  const actions = [changes.createUser(user), ...rights, ...(withKey ? [changes.createKey(user)] : [])];
  return (
    <DialogForm
      commands={isReady ? commandsOf(actions) : []}
      title={texts.create}
      submit={texts.create}
      disabled={!isReady || busy}
      onSubmit={() =>
        void save(async () => {
          await perform(client, [changes.createUser(user)]);
          onMade({ user, rights, withKey });
        })
      }
    >
      <TextField
        label={texts.name}
        hint={texts.nameHint}
        error={isBad ? texts.nameBad : undefined}
        autofocus
        maxLength={64}
        {...field('name')}
      />
      <Select label={texts.access} options={named(accesses, texts.accesses)} {...field('given')} />
      {given === 'limited' && (
        <ShortFormFields bucket={field('bucket')} prefix={field('prefix')} access={field('access')} />
      )}
      <Switch label={texts.withKey} {...field('withKey')} />
      {failure !== undefined && <ErrorBox error={failure} />}
    </DialogForm>
  );
}
