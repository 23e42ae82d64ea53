import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Button } from './button.tsx';
import { CommandLine } from './command-line.tsx';
import { t } from '../messages/messages.ts';
import type { LabelledCommand } from '../format/commands.ts';

/** The dialog that is open. Its parts ask for one answer and close it. */
const open = signal<{ readonly render: () => ComponentChildren; readonly cancel: () => void } | undefined>(undefined);

/** Opens a dialog and returns what was answered, or nothing if it was closed. */
export function ask<T>(render: (answer: (value: T) => void) => ComponentChildren): Promise<T | undefined> {
  open.peek()?.cancel();
  return new Promise((resolve) => {
    const end = (value: T | undefined): void => {
      open.value = undefined;
      resolve(value);
    };
    open.value = { render: () => render(end), cancel: () => end(undefined) };
  });
}

/** Closes open dialogs at the end of the session. */
export const closeDialog = (): void => open.peek()?.cancel();

/** Shows the dialog that is open. */
export function DialogHost() {
  const element = useRef<HTMLDialogElement>(null);
  const present = open.value;
  useEffect(() => {
    const dialog = element.current;
    if (present === undefined || dialog === null) return;
    const before = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, [present]);
  if (present === undefined) return null;
  return (
    <dialog
      ref={element}
      aria-labelledby="dialog-title"
      onCancel={(event) => {
        event.preventDefault();
        present.cancel();
      }}
      onClick={(event) => event.target === element.current && present.cancel()}
    >
      {present.render()}
    </dialog>
  );
}

/** The inside of a dialog: a title, what it says, and its buttons. */
export function DialogForm({
  title,
  children,
  commands,
  submit,
  danger,
  disabled,
  isOnlyClosed,
  onSubmit,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Commands that do the same, with captions other than the AWS CLI; `none`: no request is sent. */
  readonly commands: readonly LabelledCommand[] | 'none';
  readonly submit: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  /** True: there is nothing to cancel. */
  readonly isOnlyClosed?: boolean;
  readonly onSubmit: () => void;
}) {
  return (
    <form
      class="dialog"
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <header>
        <h2 id="dialog-title">{title}</h2>
        <Button icon="close" label={t.value.common.close} onClick={closeDialog} />
      </header>
      {/* What has no field to go to is scrolled by the keyboard as a whole. */}
      <div class="dialog-body" {...(isOnlyClosed && { tabIndex: 0, role: 'group', 'aria-labelledby': 'dialog-title' })}>
        {children}
        {commands !== 'none' && commands.map((each, index) => <CommandLine key={index} {...each} />)}
      </div>
      <footer>
        {!isOnlyClosed && <Button onClick={closeDialog}>{t.value.common.cancel}</Button>}
        <Button type="submit" kind={danger ? 'danger' : 'primary'} disabled={disabled === true}>
          {submit}
        </Button>
      </footer>
    </form>
  );
}

/** A labelled field. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly error?: string | undefined;
  readonly children: (ids: {
    readonly id: string;
    readonly 'aria-describedby'?: string;
    readonly 'aria-invalid'?: boolean;
  }) => ComponentChildren;
}) {
  const id = useId();
  const described = hint !== undefined || error !== undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        ...(described && { 'aria-describedby': `${id}-hint` }),
        ...(error !== undefined && { 'aria-invalid': true }),
      })}
      {described && (
        <p id={`${id}-hint`} class={error === undefined ? 'hint' : 'hint bad'}>
          {error ?? hint}
        </p>
      )}
    </div>
  );
}
