import { t } from '../messages/messages.ts';
import { Button } from '../ui/button.tsx';

/** A title, and a button that starts editing its section. */
export function SectionHead({
  title,
  level = 3,
  onEdit,
}: {
  readonly title: string;
  readonly level?: 2 | 3;
  readonly onEdit: (() => void) | undefined;
}) {
  return (
    <div class="section-head">
      {level === 2 ? <h2>{title}</h2> : <h3>{title}</h3>}
      {onEdit && (
        <Button kind="quiet" label={`${t.value.details.edit}: ${title}`} onClick={onEdit}>
          {t.value.details.edit}
        </Button>
      )}
    </div>
  );
}
