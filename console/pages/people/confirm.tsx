import type { ComponentChildren } from 'preact';
import { iamCommand } from '../../format/commands.ts';
import { t } from '../../messages/messages.ts';
import { perform } from '../../s3/iam.ts';
import type { IamAction } from '../../s3/iam-action.ts';
import { config, session } from '../../session/session.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useSaving } from '../../ui/form.ts';
import { ErrorBox, notify } from '../../ui/notices.tsx';

/** Commands that do the same as some actions, one after the other. */
export const commandsOf = (actions: readonly IamAction[]) =>
  actions.length === 0 ? [] : [{ command: actions.map((each) => iamCommand(config.value!, each)).join('\n') }];

/** What is asked before something is changed. */
interface Question {
  readonly title: string;
  readonly submit: string;
  readonly danger?: boolean;
  readonly content: ComponentChildren;
  readonly actions: readonly IamAction[];
  /** Does it, in place of sending the actions. */
  readonly act?: () => Promise<void>;
}

/** Asks before something is changed, and changes it. Returns whether it did; what fails is said in the dialog. */
export async function confirm(question: Question, done = t.value.common.saved): Promise<boolean> {
  const isDone = await ask<true>((answer) => <Confirm {...question} onDone={() => answer(true)} />);
  if (isDone === true && done !== '') notify(done);
  return isDone === true;
}

function Confirm({ title, submit, danger, content, actions, act, onDone }: Question & { readonly onDone: () => void }) {
  const { client } = session.value!;
  const { failure, busy, save } = useSaving();
  return (
    <DialogForm
      commands={commandsOf(actions)}
      title={title}
      submit={submit}
      danger={danger === true}
      disabled={busy}
      onSubmit={() =>
        void save(async () => {
          await (act === undefined ? perform(client, actions) : act());
          onDone();
        })
      }
    >
      {content}
      {failure !== undefined && <ErrorBox error={failure} />}
    </DialogForm>
  );
}
