/** Hints for a claim that names no TV. */
export const claimHints = {
  claim_not_found:
    'Type the claim that the TV shows now: it ends after ten minutes. Claims never contain 0, O, 1, I or L.',
  claim_offered: 'Start pairing at the TV again: it then shows a new claim.',
};
