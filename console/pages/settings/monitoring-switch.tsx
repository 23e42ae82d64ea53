import { curlCommand } from '../../format/commands.ts';
import { t } from '../../messages/messages.ts';
import { monitoringRequest, putMonitoring } from '../../s3/monitoring.ts';
import { config, session } from '../../session/session.ts';
import { CommandLine } from '../../ui/command-line.tsx';
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
    <div class="stack tight">
      <Switch
        label={texts.switch}
        hint={isOn ? undefined : texts.isOff}
        value={isOn}
        onInput={(wanted) =>
          void attempt(async () => {
            await putMonitoring(client, bucket, wanted);
            notify(t.value.common.saved);
          }).then(onChanged)
        }
      />
      <CommandLine label="curl" command={curlCommand(config.value!, monitoringRequest(bucket, !isOn))} />
    </div>
  );
}
