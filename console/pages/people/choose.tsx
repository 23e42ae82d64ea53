import { useState } from 'preact/hooks';
import { commandsOf } from './confirm.tsx';
import { t } from '../../messages/messages.ts';
import { perform } from '../../s3/iam.ts';
import type { IamAction } from '../../s3/iam-action.ts';
import { session } from '../../session/session.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useSaving } from '../../ui/form.ts';
import { ErrorBox, notify } from '../../ui/notices.tsx';
import { Select } from '../../ui/select.tsx';

interface Choice {
  readonly title: string;
  readonly label: string;
  readonly submit: string;
  readonly options: readonly (readonly [value: string, name: string])[];
  /** What is said where there is nothing to choose. */
  readonly ifNone: string;
  readonly actionOf: (value: string) => IamAction;
}

/** Asks for one of several things, and gives it to a user. Returns whether it did. */
export async function choose(choice: Choice): Promise<boolean> {
  const chosen = await ask<true>((answer) => <Choose {...choice} onDone={() => answer(true)} />);
  if (chosen === true) notify(t.value.common.saved);
  return chosen === true;
}

function Choose({ title, label, submit, options, ifNone, actionOf, onDone }: Choice & { readonly onDone: () => void }) {
  const { client } = session.value!;
  const [value, setValue] = useState(options[0]?.[0] ?? '');
  const { failure, busy, save } = useSaving();
  const actions = value === '' ? [] : [actionOf(value)];
  return (
    <DialogForm
      commands={commandsOf(actions)}
      title={title}
      submit={submit}
      disabled={busy || value === ''}
      onSubmit={() =>
        void save(async () => {
          await perform(client, actions);
          onDone();
        })
      }
    >
      {value === '' ? <p>{ifNone}</p> : <Select label={label} value={value} options={options} onInput={setValue} />}
      {failure !== undefined && <ErrorBox error={failure} />}
    </DialogForm>
  );
}
