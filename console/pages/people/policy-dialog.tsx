import { useState } from 'preact/hooks';
import { commandsOf } from './confirm.tsx';
import { jsonFault, pretty, shortFormOf } from './policy-words.ts';
import { ShortFormFields } from './short-form.tsx';
import { t } from '../../messages/messages.ts';
import { people } from '../../messages/people.ts';
import { isFailure } from '../../s3/failure.ts';
import { changes, perform, simulate, type Inline, type User } from '../../s3/iam.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm, useSaving } from '../../ui/form.ts';
import { ErrorBox, notify } from '../../ui/notices.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { shortPolicy } from '../../../shared/documents/short-policy.ts';

/** Writes a policy of a user alone: a new one, or in place of one that is there. Returns whether it was saved. */
export async function editPolicy(user: User, own: readonly Inline[], before?: Inline): Promise<boolean> {
  const saved = await ask<true>((answer) => (
    <PolicyDialog user={user} own={own} before={before} onSaved={() => answer(true)} />
  ));
  if (saved === true) notify(t.value.common.saved);
  return saved === true;
}

/** A name that no other policy of the user has. The command line calls its policies so, too. */
function freeName(own: readonly Inline[]): string {
  const taken = new Set(own.map(({ name }) => name));
  let name = 'access';
  for (let count = 2; taken.has(name); count++) name = `access-${count}`;
  return name;
}

function PolicyDialog({
  user,
  own,
  before,
  onSaved,
}: {
  readonly user: User;
  readonly own: readonly Inline[];
  readonly before: Inline | undefined;
  readonly onSaved: () => void;
}) {
  const { client } = session.value!;
  const texts = people.value;
  const short = before === undefined ? undefined : shortFormOf(before.text);
  const [isJson, setJson] = useState(before !== undefined && short === undefined);
  const { values, field } = useForm(() => ({
    name: before?.name ?? freeName(own),
    bucket: short?.bucket ?? '',
    prefix: short?.prefix ?? '',
    access: short?.access ?? 'read',
  }));
  const [text, setText] = useState(before === undefined ? '' : pretty(before.text));
  /** What the service says of the text as it is. */
  const [said, setSaid] = useState<{ readonly of: string; readonly fault?: string }>();
  const { failure, busy, save } = useSaving();

  const name = values.name.trim();
  const isTaken = own.some((each) => each !== before && each.name === name);
  const isBadName = !/^[\w+=,.@-]{1,128}$/.test(name);
  const written = isJson ? text : values.bucket === '' ? '' : shortPolicy(values.bucket, values.prefix, values.access);
  const fault = isJson && text.trim() !== '' ? jsonFault(text) : undefined;
  const isReady = !isTaken && !isBadName && written.trim() !== '' && fault === undefined;
  const actions = [
    changes.putPolicy(user.UserName!, { name, text: written }),
    // A policy has no other way to a new name.
    ...(before !== undefined && before.name !== name ? [changes.deletePolicy(user.UserName!, before.name)] : []),
  ];

  /** Does something with the text, and keeps what the service has against it. */
  const tried = async (act: () => Promise<unknown>): Promise<boolean> => {
    try {
      await act();
      return true;
    } catch (error) {
      if (!isFailure(error, 'MalformedPolicyDocument')) throw error;
      setSaid({ of: written, fault: error.message });
      return false;
    }
  };
  const check = (): void =>
    void save(async () => {
      const question = { arn: user.Arn, actions: ['s3:ListBucket'], resource: '*', besides: [written] };
      if (await tried(() => simulate(client, question))) setSaid({ of: written });
    });
  const saidOfText = said?.of === written ? said : undefined;
  const toJson = (): void => {
    if (written !== '') setText(pretty(written));
    setJson(true);
  };
  const toForm = (): void => {
    const form = shortFormOf(text);
    if (form === undefined && text.trim() !== '') return;
    if (form !== undefined) {
      field('bucket').onInput(form.bucket);
      field('prefix').onInput(form.prefix);
      field('access').onInput(form.access);
    }
    setJson(false);
  };
  const isBeyondForm = isJson && text.trim() !== '' && shortFormOf(text) === undefined;
  return (
    <DialogForm
      commands={isReady ? commandsOf(actions) : []}
      title={before === undefined ? texts.addPolicy : texts.editPolicy}
      submit={texts.savePolicy}
      disabled={!isReady || busy}
      onSubmit={() =>
        void save(async () => {
          if (await tried(() => perform(client, actions))) onSaved();
        })
      }
    >
      <TextField
        label={texts.policyName}
        error={isTaken ? texts.policyTaken : isBadName ? texts.policyNameBad : undefined}
        maxLength={128}
        {...field('name')}
      />
      <fieldset class="choices">
        <legend>{texts.written}</legend>
        <label class="check">
          <input type="radio" name="written" checked={!isJson} disabled={isBeyondForm} onChange={toForm} />
          {texts.byForm}
        </label>
        <label class="check">
          <input type="radio" name="written" checked={isJson} onChange={toJson} />
          {texts.asJson}
        </label>
        {isBeyondForm && <span class="hint">{texts.notForm}</span>}
      </fieldset>
      {isJson ? (
        <>
          <TextField
            label={texts.document}
            rows={14}
            error={fault ?? saidOfText?.fault}
            value={text}
            onInput={setText}
          />
          <div class="row">
            <Button disabled={!isReady || busy} onClick={check}>
              {texts.check}
            </Button>
            <span role="status" class="hint">
              {saidOfText !== undefined && saidOfText.fault === undefined && texts.checked}
            </span>
          </div>
        </>
      ) : (
        <>
          <ShortFormFields bucket={field('bucket')} prefix={field('prefix')} access={field('access')} />
          {saidOfText?.fault !== undefined && <p class="hint bad">{saidOfText.fault}</p>}
        </>
      )}
      {failure !== undefined && <ErrorBox error={failure} />}
    </DialogForm>
  );
}
