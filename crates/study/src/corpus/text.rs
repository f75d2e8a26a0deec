//! English-looking text: common words with Zipf's distribution, arranged in sentences, paragraphs and lines.

use sealwright_measure::random::Random;

/// Words by rank: the n-th word is 1/n times as frequent as the first.
const WORDS: &str = "the of and to a in that it is was for on with he as you at by be this from have or had not but \
    what all were when we there can an your which their said if do will each about how up out them then she many some \
    so these would other into has more two like him see time could no make than first been its who now people my made \
    over did down only way find use may water long little very after words called just where most know get through \
    back much before go good new write our used me man too any day same right look think also around another came come \
    work three word must because does part even place well such here take why things help put years different away \
    again off went old number great tell men say small every found still between name should home big give air line \
    set own under read last never us left end along while might next sound below saw something thought both few those \
    always looked show large often together asked house world going want school important until form food keep \
    children feet land side without boy once animals life enough took sometimes four head above kind began almost live \
    page got earth need far hand high year mother light parts country father let night following picture being study";

const LINE: usize = 78;

/// Text of exactly `bytes` bytes.
pub(super) fn text(bytes: usize, seed: u64) -> Vec<u8> {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut reached = 0.0;
    // Cumulative weights, in which a binary search finds the word of a random number
    let weights: Vec<f64> = (1..=words.len())
        .map(|rank| {
            reached += 1.0 / rank as f64;
            reached
        })
        .collect();
    let mut random = Random::new(seed);
    let mut text = String::with_capacity(bytes + 1024);
    let mut column = 0;
    while text.len() < bytes {
        for sentence in 0..3 + random.below(5) {
            let length = 5 + random.below(14);
            for place in 0..length {
                let drawn = random.unit() * reached;
                let word = words[weights.partition_point(|&weight| weight <= drawn).min(words.len() - 1)];
                let end = match place {
                    _ if place + 1 == length => ".",
                    _ if random.below(9) == 0 => ",",
                    _ => "",
                };
                let wide = word.len() + end.len();
                if column + 1 + wide > LINE {
                    text.push('\n');
                    column = 0;
                } else if place > 0 || sentence > 0 {
                    text.push(' ');
                    column += 1;
                }
                match place {
                    0 => text.extend(word[..1].to_uppercase().chars().chain(word[1..].chars())),
                    _ => text.push_str(word),
                }
                text.push_str(end);
                column += wide;
            }
        }
        text.push_str("\n\n");
        column = 0;
    }
    let mut text = text.into_bytes();
    text.truncate(bytes - 1);
    text.push(b'\n');
    text
}
