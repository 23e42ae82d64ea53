import { useState } from 'preact/hooks';
import { t } from '../messages/messages.ts';
import { Button } from './button.tsx';
import { attempt } from './notices.tsx';

/** A command, to be copied: what a dialog or a page is about to do, as the AWS CLI does it. */
export function CommandLine({ command, label }: { readonly command: string; readonly label?: string }) {
  return (
    <figure class="command">
      <figcaption>{label ?? t.value.common.command}</figcaption>
      <code tabIndex={0}>{command}</code>
      <CopyButton text={command} />
    </figure>
  );
}

/** Copies text to the clipboard, and says that it did. Long text is made only when it is wanted. */
export function CopyButton({
  text,
  label,
  name: given = label,
}: {
  readonly text: string | (() => string);
  /** The text beside the icon. */
  readonly label?: string;
  /** The accessible name, and the tooltip. */
  readonly name?: string;
}) {
  const [copied, setCopied] = useState(false);
  const name = copied ? t.value.common.copied : (given ?? t.value.common.copy);
  return (
    <Button
      kind="quiet"
      {...(label !== undefined && { class: 'small' })}
      icon={copied ? 'check' : 'copy'}
      tip={name}
      onClick={() => {
        void attempt(async () => {
          await copyText(typeof text === 'string' ? text : text());
          setCopied(true);
          setTimeout(() => setCopied(false), 1_500);
        });
      }}
    >
      {label === undefined ? undefined : <span>{copied ? name : label}</span>}
    </Button>
  );
}

async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  // Outside a secure context, this is the only way to the clipboard.
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  // Everything else is inert while a dialog is open.
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const isCopied = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isCopied) throw new Error(t.value.common.notCopied);
}
