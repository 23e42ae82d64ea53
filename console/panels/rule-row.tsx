import type { ComponentChildren } from 'preact';
import { t } from '../messages/messages.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/command-line.tsx';

/** A rule in a list: its description, and buttons to change and remove it. */
export function RuleRow({
  label,
  editLabel,
  removeLabel,
  onEdit,
  onRemove,
  removeCommand,
  children,
}: {
  readonly label: string;
  readonly editLabel: string;
  readonly removeLabel: string;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
  /** The command that removes the rule; undefined: a form saves it. */
  readonly removeCommand: string | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="rule" aria-label={label}>
      <div class="grow">{children}</div>
      <Button kind="quiet" label={editLabel} onClick={onEdit}>
        {t.value.details.edit}
      </Button>
      <Button icon="trash" tip={removeLabel} onClick={onRemove} />
      {removeCommand !== undefined && (
        <CopyButton name={`${t.value.common.command}: ${removeLabel}`} text={removeCommand} />
      )}
    </section>
  );
}
