import { t } from '../messages/messages.ts';

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
        <button type="button" class="quiet" onClick={onEdit} aria-label={`${t.value.details.edit}: ${title}`}>
          {t.value.details.edit}
        </button>
      )}
    </div>
  );
}
