import { people } from '../../messages/people.ts';
import { isFailure, type S3Failure } from '../../s3/failure.ts';
import { Empty, ErrorBox } from '../../ui/notices.tsx';

/** Says in a sentence which right the caller does not have; other failures are errors. */
export function Refused({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  if (!isFailure(error, 'AccessDenied')) return <ErrorBox error={error} retry={retry} />;
  const texts = people.value;
  return (
    <Empty title={texts.notAllowed}>
      <p>{sentenceOf(error)}</p>
      {error.missingRight === '' && <p>{error.message}</p>}
    </Empty>
  );
}

function sentenceOf({ missingRight }: S3Failure): string {
  const texts = people.value;
  return missingRight === '' ? texts.withoutRight : texts.needsRight(missingRight);
}
