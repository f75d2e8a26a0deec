//! A landscape at dusk with sensor noise, as PNG and PPM.

use std::f64::consts::TAU;

use sealwright_measure::random::Random;

/// A mountain ridge: its height, and three waves with count, height and phase.
type Ridge = (f64, [(f64, f64, f64); 3]);

/// The picture before rasterisation: coordinates run from 0 to 1 in both directions.
struct Landscape {
    /// The ridges, from far to near.
    ridges: Vec<Ridge>,
    sun: (f64, f64),
    grain: Random,
}

impl Landscape {
    fn new(seed: u64) -> Landscape {
        let mut random = Random::new(seed);
        let ridges = (0..4)
            .map(|ridge| {
                let height = 0.50 + 0.12 * f64::from(ridge) + 0.03 * random.unit();
                let wave = [1.5, 4.0, 11.0].map(|count| {
                    (count * (0.7 + 0.6 * random.unit()), 0.055 / count * (1.0 + random.unit()), random.unit())
                });
                (height, wave)
            })
            .collect();
        let sun = (0.2 + 0.6 * random.unit(), 0.25 + 0.15 * random.unit());
        Landscape { ridges, sun, grain: random }
    }

    /// Rasterises `rows` rows of `width` pixels, three bytes each.
    fn pixels(&mut self, width: usize, rows: usize) -> Vec<u8> {
        let mut pixels = Vec::with_capacity(width * rows * 3);
        // The height of each ridge in each column
        let edges: Vec<Vec<f64>> = (0..width)
            .map(|column| {
                let x = column as f64 / width as f64;
                let edge = |(height, waves): &Ridge| {
                    height
                        + waves.iter().map(|(count, high, phase)| high * (TAU * (count * x + phase)).sin()).sum::<f64>()
                };
                self.ridges.iter().map(edge).collect()
            })
            .collect();
        for row in 0..rows {
            let y = row as f64 / rows as f64;
            for (column, edges) in edges.iter().enumerate() {
                let x = column as f64 / width as f64;
                let colour = match edges.iter().rposition(|&edge| y > edge) {
                    Some(ridge) => {
                        let near = ridge as f64 / self.ridges.len() as f64;
                        [110.0 - 80.0 * near, 95.0 - 55.0 * near, 140.0 - 70.0 * near]
                    }
                    None => {
                        let far = (x - self.sun.0).hypot(y - self.sun.1);
                        let glow = if far < 0.05 { 1.0 } else { (-7.0 * (far - 0.05)).exp() };
                        [60.0 + 120.0 * y + 90.0 * glow, 60.0 + 90.0 * y + 70.0 * glow, 120.0 + 20.0 * y - 10.0 * glow]
                    }
                };
                let grain = self.grain.bits();
                for (channel, value) in colour.into_iter().enumerate() {
                    let grain = f64::from((grain >> (channel * 8)) as u8 & 7) - 3.5;
                    pixels.push((value + grain).clamp(0.0, 255.0) as u8);
                }
            }
        }
        pixels
    }
}

/// Readable filler text for a comment.
fn comment(bytes: usize) -> String {
    "Drawn by Sealwright from a seed, to be sealed and opened. ".chars().cycle().take(bytes).collect()
}

/// A PPM file of exactly `bytes`: header, comment, pixels.
pub(super) fn ppm(bytes: usize, seed: u64) -> Vec<u8> {
    let width = ((bytes / 3) as f64 * 4.0 / 3.0).sqrt() as usize;
    let head = |rows| format!("{width} {rows}\n255\n");
    // "P6\n", then "# " and a newline around the comment
    let fixed = |rows: usize| 3 + 3 + head(rows).len() + rows * width * 3;
    let rows = (1..=bytes / (3 * width)).rev().find(|&rows| fixed(rows) <= bytes).unwrap_or(0);
    let mut file = format!("P6\n# {}\n{}", comment(bytes - fixed(rows)), head(rows)).into_bytes();
    file.extend(Landscape::new(seed).pixels(width, rows));
    file
}

/// A PNG file of exactly `bytes`: as many rows as fit, and a comment.
pub(super) fn png(bytes: usize, seed: u64) -> Vec<u8> {
    /// The size of a chunk with an empty comment: length, type, keyword with its terminator, checksum.
    const CHUNK: usize = 4 + 4 + 8 + 4;
    let encode = |width: usize, rows: usize, comment: Option<String>| {
        let mut file = Vec::with_capacity(bytes);
        let mut encoder = png::Encoder::new(&mut file, width as u32, rows as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        if let Some(comment) = comment {
            encoder
                .add_text_chunk("Comment".to_owned(), comment)
                .expect("a comment of plain letters is one that PNG takes");
        }
        let mut writer = encoder.write_header().expect("memory takes every byte");
        writer.write_image_data(&Landscape::new(seed).pixels(width, rows)).expect("pixels as many as the head says");
        writer.finish().expect("memory takes every byte");
        file
    };
    // Start from about 1.6 bytes per pixel after compression, and correct the number of rows if the result does not
    // fit
    let width = ((bytes as f64 / 1.6) * 4.0 / 3.0).sqrt() as usize;
    let mut rows = width * 3 / 4;
    loop {
        let file = encode(width, rows, None);
        if file.len() + CHUNK <= bytes && (file.len() > bytes * 9 / 10 || bytes < 10_000) {
            return encode(width, rows, Some(comment(bytes - file.len() - CHUNK)));
        }
        rows = (rows as f64 * 0.96 * bytes as f64 / (file.len() + CHUNK) as f64) as usize;
    }
}
