import { t } from '../../messages/messages.ts';
import { putMonitoring } from '../../s3/monitoring.ts';
import { session } from '../../session/session.ts';
import { attempt, notify } from '../../ui/notices.tsx';
import { Switch } from '../../ui/switch.tsx';

/** Turns the monitoring of a bucket on and off. */
export function MonitoringSwitch({
  bucket,
  isOn,
  onChanged,
}: {
  readonly bucket: string;
  readonly isOn: boolean;
  readonly onChanged: () => void;
}) {
  const { client } = session.value!;
  const texts = t.value.monitoring;
  return (
    <Switch
      label={texts.switch}
      hint={isOn ? undefined : texts.isOff}
      checked={isOn}
      onChange={(wanted) =>
        void attempt(async () => {
          await putMonitoring(client, bucket, wanted);
          notify(t.value.common.saved);
        }).then(onChanged)
      }
    />
  );
}
