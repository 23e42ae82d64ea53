import { eventTexts } from '../../messages/events.ts';
import { t } from '../../messages/messages.ts';
import type { Webhook } from '../../s3/events.ts';
import { ask, DialogForm } from '../../ui/dialog.tsx';
import { useForm } from '../../ui/form.ts';
import { Select } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import type { UnnamedNotificationRule } from '../../../shared/documents/notification.ts';

/** Asks for a rule: which events of which keys are told to which webhook. @param rule undefined: a new one */
export function askEventRule(
  rule: UnnamedNotificationRule | undefined,
  webhooks: readonly Webhook[],
  commandOf: (rule: UnnamedNotificationRule) => string,
): Promise<UnnamedNotificationRule | undefined> {
  return ask<UnnamedNotificationRule>((answer) => (
    <RuleDialog rule={rule} webhooks={webhooks} commandOf={commandOf} onDone={answer} />
  ));
}

function RuleDialog({
  rule,
  webhooks,
  commandOf,
  onDone,
}: {
  readonly rule: UnnamedNotificationRule | undefined;
  readonly webhooks: readonly Webhook[];
  readonly commandOf: (rule: UnnamedNotificationRule) => string;
  readonly onDone: (rule: UnnamedNotificationRule) => void;
}) {
  const texts = eventTexts.value.events;
  const { values, field } = useForm(() => ({
    target: rule?.target ?? webhooks[0]!.arn,
    events: rule?.events ?? ['s3:ObjectCreated:*'],
    prefix: rule?.prefix ?? '',
    suffix: rule?.suffix ?? '',
  }));
  const { target, events, prefix, suffix } = values;
  const names: Readonly<Record<string, string>> = texts.kinds;
  // A rule that was made elsewhere may name single events.
  const choices = [...new Set([...Object.keys(names), ...(rule?.events ?? [])])];
  const known = webhooks.some(({ arn }) => arn === target);
  const targets = [
    ...webhooks.map(({ arn, name }) => [arn, name] as const),
    ...(known ? [] : [[target, target] as const]),
  ];
  const done: UnnamedNotificationRule = {
    ...(rule?.id !== undefined && { id: rule.id }),
    via: rule?.target === target ? rule.via : 'Queue',
    target,
    events,
    ...(prefix !== '' && { prefix }),
    ...(suffix !== '' && { suffix }),
  };
  const isReady = events.length > 0;
  return (
    <DialogForm
      commands={isReady ? [{ command: commandOf(done) }] : []}
      title={rule === undefined ? texts.addRule : texts.editRule}
      submit={t.value.common.save}
      disabled={!isReady}
      onSubmit={() => onDone(done)}
    >
      <Select label={texts.target} options={targets} {...field('target')} />
      <fieldset class="choices">
        <legend>{texts.what}</legend>
        {choices.map((event) => (
          <label class="check" key={event}>
            <input
              type="checkbox"
              checked={events.includes(event)}
              onChange={({ currentTarget: { checked } }) =>
                field('events').onInput(choices.filter((each) => (each === event ? checked : events.includes(each))))
              }
            />
            {names[event] ?? event}
          </label>
        ))}
      </fieldset>
      <TextField label={texts.prefix} maxLength={1024} {...field('prefix')} />
      <TextField label={texts.suffix} maxLength={1024} {...field('suffix')} />
      <p class="hint">{texts.validated}</p>
    </DialogForm>
  );
}
