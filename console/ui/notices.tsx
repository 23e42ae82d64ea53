import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { isFailure } from '../s3/failure.ts';
import { t } from '../messages/messages.ts';
import { Button } from './button.tsx';
import { Icon } from './icons.tsx';

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly error: unknown;
  readonly action?: { readonly label: string; readonly act: () => void };
}

const notices = signal<readonly Notice[]>([]);
let count = 0;
const shownFor = 8_000;

/** Shows a message at the edge of the page, optionally with an action, such as undo, while it is visible. */
export function notify(
  text: string,
  options: { readonly error?: unknown; readonly action?: Notice['action'] } = {},
): void {
  const id = ++count;
  const notice: Notice = { id, text, error: options.error, ...(options.action && { action: options.action }) };
  notices.value = [...notices.value.slice(-2), notice];
  if (options.error === undefined) setTimeout(() => dismiss(id), shownFor);
}

const dismiss = (id: number): void => void (notices.value = notices.value.filter((notice) => notice.id !== id));

/** Does something, and says so if it fails. */
export async function attempt(act: () => Promise<void>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    notify('', { error });
    return false;
  }
}

export function NoticeHost() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div key={notice.id} class={notice.error === undefined ? 'notice' : 'notice bad'}>
          <div>
            {notice.error === undefined ? notice.text : notice.text !== '' && <strong>{notice.text}: </strong>}
            {notice.error !== undefined && <ErrorText error={notice.error} />}
          </div>
          {notice.action && (
            <Button
              kind="quiet"
              onClick={() => {
                dismiss(notice.id);
                notice.action!.act();
              }}
            >
              {notice.action.label}
            </Button>
          )}
          <Button icon="close" label={t.value.common.close} onClick={() => dismiss(notice.id)} />
        </div>
      ))}
    </div>
  );
}

/** An error in words: what happened and what helps, then the service's own words, its code and the id of the request. */
function ErrorText({ error }: { readonly error: unknown }) {
  const { words, detail } = explain(error);
  return (
    <>
      <span>{words}</span>
      {detail !== '' && <small class="error-detail">{detail}</small>}
    </>
  );
}

/** Explains an error. */
export function explain(error: unknown): { readonly words: string; readonly detail: string } {
  const wordsOf = (code: string): string | undefined =>
    Object.hasOwn(t.value.errors, code) ? t.value.errors[code as keyof typeof t.value.errors] : undefined;
  if (isFailure(error)) {
    const { missingRight } = error;
    const known = missingRight === '' ? wordsOf(error.code) : t.value.common.missingRight(missingRight);
    const id = error.requestId === '' ? '' : t.value.common.requestId(error.requestId);
    const own = known === undefined ? '' : error.message;
    const code = error.status === 0 ? '' : `${error.status} ${error.code}`;
    return {
      words: known ?? (error.message || t.value.errors.unknown),
      detail: [own, code, id].filter((part) => part !== '').join(' · '),
    };
  }
  const undeleted = (error as { undeleted?: { code: string; message: string } } | undefined)?.undeleted;
  if (undeleted !== undefined) return { words: wordsOf(undeleted.code) ?? undeleted.message, detail: undeleted.code };
  return { words: error instanceof Error ? error.message : t.value.errors.unknown, detail: '' };
}

/** An error in place of the content that could not be loaded, with a button to try again. */
export function ErrorBox({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  return (
    <div class="error-box" role="alert">
      <Icon name="warning" />
      <div>
        <ErrorText error={error} />
      </div>
      {retry && <Button onClick={retry}>{t.value.common.retry}</Button>}
    </div>
  );
}

/** An empty state: a title, and what to do first. */
export function Empty({
  title,
  isDropTarget,
  children,
}: {
  readonly title: string;
  readonly isDropTarget?: boolean;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={isDropTarget ? 'empty drop-target' : 'empty'}>
      <p class="empty-title">{title}</p>
      {children}
    </div>
  );
}
