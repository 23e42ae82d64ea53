import { useState } from 'preact/hooks';
import { may, session } from './operator-session.ts';
import { stillageCommand } from '../format/commands.ts';
import { visibleName } from '../format/names.ts';
import { texts } from '../messages/operators.ts';
import { Button } from '../ui/button.tsx';
import { ask, DialogForm } from '../ui/dialog.tsx';
import { useSaving } from '../ui/form.ts';
import { ErrorBox, notify } from '../ui/notices.tsx';

interface Suspendable {
  readonly kind: 'customer' | 'project' | 'user' | 'key';
  readonly name: string;
  readonly suspended: boolean;
  /** When it ends by itself, in milliseconds. */
  readonly until?: number | undefined;
}

/** Whether something is suspended and, for those who may, a button that changes it once they have confirmed that. */
export function Suspension({ kind, name, suspended, until }: Suspendable) {
  const [changed, setChanged] = useState<boolean>();
  const words = texts.value;
  const isSuspended = changed ?? suspended;
  const isEnded = until !== undefined && until <= Date.now();
  const shown = visibleName(name);
  const change = async (): Promise<void> => {
    const asked = !isSuspended;
    const isDone = await ask<true>((answer) => (
      <Confirm kind={kind} name={name} suspended={asked} onDone={() => answer(true)} />
    ));
    if (isDone !== true) return;
    setChanged(asked);
    notify(asked ? words.suspendedNotice(shown) : words.resumedNotice(shown));
  };
  return (
    <div class="row wrap suspension">
      <span class={isSuspended ? 'badge bad' : isEnded ? 'badge' : 'badge good'}>
        {isSuspended ? words.suspended : isEnded ? words.ended : words.active}
      </span>
      {may('manage') && (
        <Button
          class="small"
          kind={isSuspended ? undefined : 'bad'}
          label={isSuspended ? words.resumeNamed(shown) : words.suspendNamed(shown)}
          onClick={() => void change()}
        >
          {isSuspended ? words.resume : words.suspend}
        </Button>
      )}
    </div>
  );
}

/** Asks whether something should be suspended or resumed, and does it; what fails is said in the dialog. */
function Confirm({ kind, name, suspended, onDone }: Suspendable & { readonly onDone: () => void }) {
  const { failure, busy, save } = useSaving();
  const words = texts.value;
  const shown = visibleName(name);
  const verb = suspended ? 'suspend' : 'resume';
  const command = stillageCommand(location.origin, kind, verb, name);
  return (
    <DialogForm
      commands={[{ command, label: 'stillage' }]}
      title={suspended ? words.suspendTitle(shown) : words.resumeTitle(shown)}
      submit={words[verb]}
      danger={suspended}
      disabled={busy}
      onSubmit={() =>
        void save(async () => {
          await session.peek()!.client.ask(`${kind} ${verb}`, { [kind]: name });
          onDone();
        })
      }
    >
      <p>{suspended ? words.suspendMeaning[kind] : words.resumeMeaning}</p>
      {failure !== undefined && <ErrorBox error={failure} />}
    </DialogForm>
  );
}

/** Says that the token may not suspend, where it may not. */
export function LooksOnly() {
  return may('manage') ? null : <p class="muted page-hint">{texts.value.lacks.manage}</p>;
}
