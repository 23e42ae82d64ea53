import { describe, expect, it } from 'vitest';
import { abilities, askRights, outcomeOf, wordsOfRight } from '../../console/pages/people/rights.ts';
import { answering } from './support/iam-answers.ts';
import { simulation } from '../../shared/documents/iam.ts';

describe('what a user may do', () => {
  it('is said in a sentence for each ability', () => {
    const said = abilities.flatMap((each) => (['yes', 'no', 'denied'] as const).map((one) => wordsOfRight(each, one)));
    expect(new Set(said).size).toBe(said.length);
    expect(said).toContain('May read objects.');
    expect(said).toContain('May not write objects: no policy allows it.');
    expect(said).toContain('May not delete objects: a policy denies it.');
    expect(wordsOfRight('settings', 'some')).toBe('May change some settings of the bucket, not all.');
  });

  it('is decided by all the actions that it stands for', () => {
    expect(outcomeOf(['allowed', 'allowed'])).toBe('yes');
    expect(outcomeOf(['allowed', 'implicitDeny', 'explicitDeny'])).toBe('some');
    expect(outcomeOf(['implicitDeny', 'explicitDeny'])).toBe('no');
    expect(outcomeOf(['explicitDeny', 'explicitDeny'])).toBe('denied');
    expect(outcomeOf([undefined])).toBe('no');
  });

  it('is asked of the names that begin so, and of lists of these alone', async () => {
    const { client, sent } = answering(({ parameters }) => {
      const { ActionNames, ResourceArns } = parameters as Record<string, string[]>;
      const items = ActionNames!.map((EvalActionName) => ({
        EvalActionName,
        EvalResourceName: ResourceArns![0]!,
        EvalDecision: /GetObject|ListBucket$/.test(EvalActionName) ? 'allowed' : 'implicitDeny',
      }));
      return { content: simulation, value: { IsTruncated: false, Marker: undefined, items } };
    });
    const outcomes = await askRights(client, 'arn:aws:iam::123456789012:user/ci', 'photos', '2026/');
    expect(Object.fromEntries(outcomes)).toEqual({
      list: 'yes',
      read: 'yes',
      write: 'no',
      delete: 'no',
      settings: 'no',
    });
    const asked = sent.map(({ parameters }) => [parameters['ResourceArns'], parameters['ContextEntries']]);
    expect(asked).toContainEqual([['arn:aws:s3:::photos/2026/*'], []]);
    expect(asked).toContainEqual([
      ['arn:aws:s3:::photos'],
      [{ ContextKeyName: 's3:prefix', ContextKeyValues: ['2026/'], ContextKeyType: 'string' }],
    ]);
  });
});
