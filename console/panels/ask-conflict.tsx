import { visibleName } from '../format/names.ts';
import { t } from '../messages/messages.ts';
import type { Choice } from '../transfers/conflicts.ts';
import { Button } from '../ui/button.tsx';
import { ask, closeDialog } from '../ui/dialog.tsx';

/** Asks what to do about existing names. */
export const askConflict = (key: string): Promise<Choice | undefined> =>
  ask<Choice>((answer) => {
    const texts = t.value.objects;
    return (
      <div class="dialog">
        <header>
          <h2 id="dialog-title">{texts.exists(visibleName(key))}</h2>
        </header>
        <div class="dialog-body">
          <p>{texts.existsMeaning}</p>
        </div>
        <footer>
          <Button onClick={closeDialog}>{t.value.transfers.stop}</Button>
          <Button onClick={() => answer('skip')}>{texts.skip}</Button>
          <Button onClick={() => answer('both')}>{texts.keepBoth}</Button>
          <Button kind="primary" onClick={() => answer('replace')}>
            {texts.replace}
          </Button>
        </footer>
      </div>
    );
  });
