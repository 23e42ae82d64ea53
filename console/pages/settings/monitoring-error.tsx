import { t } from '../../messages/messages.ts';
import { isFailure } from '../../s3/failure.ts';
import { Empty, ErrorBox } from '../../ui/notices.tsx';

/** An error of monitoring or alarms. If the privilege is missing, says who can grant it. */
export function MonitoringError({ error, retry }: { readonly error: unknown; readonly retry: () => void }) {
  const box = <ErrorBox error={error} retry={retry} />;
  return isFailure(error, 'AccessDenied') ? <Empty title={t.value.monitoring.noPrivilege}>{box}</Empty> : box;
}
