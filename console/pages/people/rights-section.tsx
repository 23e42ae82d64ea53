import { useEffect, useState } from 'preact/hooks';
import { placeOf } from './policy-words.ts';
import { abilities, askRights, wordsOfRight, type Ability, type Outcome } from './rights.ts';
import { BucketField } from './short-form.tsx';
import { people } from '../../messages/people.ts';
import { session } from '../../session/session.ts';
import { Button } from '../../ui/button.tsx';
import { useForm, useSaving } from '../../ui/form.ts';
import { Icon } from '../../ui/icons.tsx';
import { ErrorBox } from '../../ui/notices.tsx';
import { TextField } from '../../ui/text-field.tsx';

/** Says what a user may do in a bucket. @param round another number when the rights have changed */
export function RightsSection({ arn, round }: { readonly arn: string; readonly round: number }) {
  const { client } = session.value!;
  const texts = people.value;
  const { values, field } = useForm(() => ({ bucket: '', prefix: '' }));
  const [answer, setAnswer] = useState<{
    readonly place: string;
    readonly outcomes: ReadonlyMap<Ability, Outcome>;
  }>();
  const { failure, busy, save } = useSaving();
  useEffect(() => setAnswer(undefined), [arn, round]);
  return (
    <section class="stack tight" aria-labelledby="rights-title">
      <h2 id="rights-title">{texts.rights}</h2>
      <p class="hint">{texts.rightsHint}</p>
      <form
        class="rights-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save(async () => {
            const { bucket, prefix } = values;
            setAnswer({ place: placeOf(values), outcomes: await askRights(client, arn, bucket, prefix) });
          });
        }}
      >
        <BucketField {...field('bucket')} />
        <TextField label={texts.prefix} {...field('prefix')} />
        <Button type="submit" disabled={busy || values.bucket === ''}>
          {texts.ask}
        </Button>
      </form>
      {failure !== undefined && <ErrorBox error={failure} />}
      <div role="status">
        {answer && (
          <>
            <p>
              <strong class="wrap-anywhere">{texts.inPlace(answer.place)}</strong>
            </p>
            <ul class="rights">
              {abilities.map((ability) => {
                const outcome = answer.outcomes.get(ability)!;
                return (
                  <li key={ability} class={outcome}>
                    <Icon name={outcome === 'no' || outcome === 'denied' ? 'close' : 'check'} />
                    {wordsOfRight(ability, outcome)}
                  </li>
                );
              })}
            </ul>
          </>
        )}
      </div>
    </section>
  );
}
