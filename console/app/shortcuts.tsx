import { t } from '../messages/messages.ts';
import { ask, DialogForm } from '../ui/dialog.tsx';

/** Shows the keyboard shortcuts. */
export async function showShortcuts(): Promise<void> {
  const keys = t.value.keys;
  const shown: readonly (readonly [string, string])[] = [
    ['/', keys.search],
    ['f', keys.filter],
    ['g b', keys.buckets],
    ['↑ ↓', keys.move],
    ['Enter', keys.open],
    ['Space', keys.preview],
    ['u', keys.upload],
    ['n', keys.folder],
    ['r', keys.rename],
    ['Delete', keys.delete],
    ['Ctrl A', keys.all],
    ['Backspace', keys.up],
    ['?', keys.help],
  ];
  await ask<void>((answer) => (
    <DialogForm commands="none" title={keys.title} submit={t.value.common.close} isOnlyClosed onSubmit={() => answer()}>
      <dl class="details-list">
        {shown.map(([key, meaning]) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </>
        ))}
      </dl>
    </DialogForm>
  ));
}
