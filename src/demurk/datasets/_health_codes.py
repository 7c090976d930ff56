"""Codes of the synthetic health records, and how often they are assumed to occur.

ICD-9-CM diagnoses have three digits, ATC drugs five characters (the fourth level).
All numbers are assumptions, made to be plausible; none was estimated from patients.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

GROUPS = ("healthy", "hypertension", "diabetes", "both")
DISEASES = ("hypertension", "diabetes")

# Mean and standard deviation of the age, share of women, and how much more contact
# with care than average, by group.
AGE = {
    "healthy": (42, 14),
    "hypertension": (61, 12),
    "diabetes": (56, 13),
    "both": (66, 11),
}
WOMEN = {"healthy": 0.53, "hypertension": 0.52, "diabetes": 0.45, "both": 0.48}
CONTACT = {"healthy": 0.8, "hypertension": 1.1, "diabetes": 1.1, "both": 1.4}

# Share of each group with at least one diagnosis code of the disease, and with at least
# one drug that is typical of it. The former is below one in patients (under-coding) and
# above zero in others (suspicions and slips that were coded as the disease).
RECORDED = {
    "hypertension": dict(zip(GROUPS, (0.05, 0.75, 0.08, 0.85))),
    "diabetes": dict(zip(GROUPS, (0.02, 0.05, 0.80, 0.85))),
}
TREATED = {
    "hypertension": dict(zip(GROUPS, (0.025, 0.80, 0.10, 0.88))),
    "diabetes": dict(zip(GROUPS, (0.006, 0.015, 0.80, 0.88))),
}
# Which codes those are: the share of each among the recorded and among the treated.
# Whoever would get none of them gets the first.
DIAGNOSES = {
    "hypertension": {"401": 0.93, "402": 0.07, "403": 0.03, "404": 0.01, "405": 0.02},
    "diabetes": {"250": 1.0},
}
# fmt: off
DRUGS = {
    "hypertension": {
        "C09AA": 0.34, "C09CA": 0.22, "C09DA": 0.26, "C09BA": 0.1, "C08CA": 0.2,
        "C07AB": 0.16, "C03BA": 0.08, "C03AA": 0.06, "C03CA": 0.08, "C02CA": 0.07,
        "C09DB": 0.05, "C07AG": 0.04, "C03EA": 0.03, "C08DB": 0.03, "C08DA": 0.02,
        "C09XA": 0.01, "C09BB": 0.01, "C07BB": 0.01, "C02AC": 0.01, "C08GA": 0.005,
    },
    "diabetes": {
        "A10BA": 0.62, "A10BB": 0.2, "A10BD": 0.2, "A10AE": 0.16, "A10AB": 0.1,
        "A10BX": 0.09, "A10BH": 0.08, "A10AD": 0.08, "A10AC": 0.03, "A10BF": 0.02,
        "A10BG": 0.02,
    },
}
# The same drugs in people without the disease: migraine, arrhythmia, oedema, prostate,
# kidney protection in diabetes; polycystic ovaries, overweight.
OTHER_REASONS = {
    "hypertension": {
        "C09AA": 0.26, "C07AB": 0.2, "C03CA": 0.16, "C02CA": 0.16, "C09CA": 0.16,
        "C07AG": 0.06, "C03AA": 0.05, "C08CA": 0.05, "C08DB": 0.03, "C08DA": 0.03,
    },
    "diabetes": {"A10BA": 1.0},
}
# fmt: on

# All other codes: the share of people who have it in a year at the age of 50, with
# average contact with care and neither disease.
OTHER_ICD = {
    0.060: "465 719 724 729 780 786 789 V70 V72 272",
    0.025: """300 305 311 278 460 462 466 477 490 493 530 535 558 564 595 599 692 706
        715 723 726 784 787 V04 V58""",
    0.010: """078 110 112 216 238 241 244 285 346 354 366 367 372 380 382 388 414 427
        454 455 461 463 472 473 496 521 525 553 574 600 616 625 626 627 682 691 701 702
        709 717 722 728 733 781 785 788 790 796 V22 V25 V45 V67 V76""",
    0.006: """008 009 053 079 111 173 174 185 211 214 218 220 239 240 242 246 274 276
        280 281 307 309 327 333 345 351 355 357 361 362 364 365 368 370 373 375 379 381
        386 389 410 413 424 428 429 434 435 440 443 447 451 453 456 459 464 470 474 478
        486 491 492 519 522 528 531 536 540 550 562 565 566 569 571 573 577 578 585 590
        592 593 596 601 603 607 608 610 611 614 617 618 620 622 623 628 633 634 640 644
        648 650 659 681 683 686 693 694 695 696 698 704 705 707 708 710 714 716 720 727
        735 738 782 783 791 793 795 799 802 807 810 812""",
    0.004: """042 070 153 162 188 189 193 228 233 256 269 288 290 294 295 296 340 350
        394 396 397 411 426 433 436 438 441 458 511 515 518 520 555 556 560 588 813 814
        815 816 820 823 824""",
}
OTHER_ATC = {
    0.200: "N02BE M01AE",
    0.120: "A02BC J01CR N02BB N05BA",
    0.060: """J01CA R06AE R05CB R05DA N06AB M01AB R01AD D07AC A03FA H02AB B03AA S01AA
        N05CD R06AX""",
    0.030: """A06AD A07DA B01AC B03BB D01AC D06AX D07AD G03AA H03AA J01FA J01MA M03BX
        N02AX N06AX R03AC R03AK S01ED S01GX A11CC M01AH N02CC""",
    0.015: """A01AD A02AD A02BA A03AX A06AC A07EC A11DA B01AA B01AB B03BA C10AA C05CA
        C05AA D01AE D02AE D04AA D05AX D10AD D10AF D11AX G01AF G02BB G03CA G03FA G04BD
        G04BE G04CA G04CB H03CA J01DC J01DD J01XX J02AC J05AB M01AC M01AX M02AA M04AA
        M05BA M05BX M09AX N02AA N03AE N03AX N05AL N06AA N06BX N07CA R01AX R03AL R03BA
        R03BB R03DC R05CA R06AA S01BA S01BC S01CA S01XA S02CA S03CA V03AB""",
    0.006: """A03AB A04AA A05AA A06AB A09AA A12AA A12BA B01AF C10AB C10AX C01DA C05BA
        C07AA C03DA C01AA C01BC C01BD C01EB C03EB C04AD C04AE C04AX C05AE C05AX C05BX
        C10AC C10BA D10BA G03BA G03DA G03GA G03XC H03BB J01AA J01EE J07AL J07BB L02AE
        L02BA L02BG L03AB N03AB N03AF N03AG N04BA N04BC N05AA N05AH N05AX N05CF N06DA
        N06DX R01AC S01EC""",
}
OTHER = {
    code: share
    for table in (OTHER_ICD, OTHER_ATC)
    for share, names in table.items()
    for code in names.split()
}

# How many times as often a patient with hypertension, and one with diabetes, has it.
# fmt: off
FACTORS = {
    "272": (2.2, 3.0), "274": (2.2, 1.2), "276": (1.6, 1.6), "278": (2.2, 2.6),
    "327": (2.2, 1.6), "357": (1.0, 6.0), "362": (1.5, 7.0), "365": (1.2, 1.6),
    "366": (1.1, 1.7), "410": (2.4, 2.0), "411": (2.4, 2.0), "413": (2.6, 1.8),
    "414": (2.6, 2.0), "424": (1.8, 1.1), "426": (1.8, 1.2), "427": (2.0, 1.2),
    "428": (2.8, 1.8), "429": (2.6, 1.3), "433": (2.2, 1.8), "434": (2.4, 2.0),
    "435": (2.2, 1.6), "436": (2.4, 1.8), "438": (2.4, 1.8), "440": (1.8, 2.6),
    "441": (2.2, 1.0), "443": (1.5, 3.6), "585": (2.8, 2.8), "588": (1.6, 3.0),
    "593": (1.6, 1.5), "599": (1.0, 1.4), "607": (1.3, 2.2), "681": (1.0, 2.0),
    "682": (1.0, 1.8), "707": (1.1, 3.6), "110": (1.0, 1.8), "112": (1.0, 1.8),
    "571": (1.2, 2.0), "790": (1.2, 4.0), "791": (1.4, 3.0), "796": (3.0, 1.1),
    "648": (1.0, 3.0), "V58": (1.1, 2.4), "V45": (1.6, 1.3), "V67": (1.2, 1.3),
    "B01AC": (4.0, 6.0), "B01AA": (2.2, 1.2), "C10AA": (9.0, 16.0), "C10AB": (4.0, 7.0),
    "C10AX": (3.0, 5.0), "C10AC": (1.4, 1.6), "C10BA": (2.0, 3.0), "C01DA": (5.0, 3.0),
    "C01AA": (2.0, 1.2), "C01BD": (2.0, 1.1), "C01EB": (2.4, 1.5), "C03DA": (3.0, 1.5),
    "C03EB": (3.0, 1.3), "C04AD": (1.4, 3.0), "C04AX": (1.4, 1.8), "C07AA": (1.6, 1.0),
    "M04AA": (2.4, 1.2), "A02BC": (1.3, 1.3), "N03AX": (1.0, 1.7), "A12BA": (2.0, 1.0),
    "B03BA": (1.0, 1.5), "G04BE": (1.3, 2.0), "D01AC": (1.0, 1.5), "S01ED": (1.1, 1.4),
}
# fmt: on
# How many times as often per ten years of age; other codes do not depend on it.
OLDER, YOUNGER = 1.30, 0.75
WITH_AGE = """272 274 276 285 290 294 357 362 365 366 389 394 396 397 410 411 413 414
    424 426 427 428 429 433 434 435 436 438 440 441 443 454 458 491 492 496 518 553 562
    585 588 593 600 715 733 735 738 820 V45 V58 153 162 173 185 188 A02BC A06AD A09AA
    A12AA A12BA B01AA B01AB B01AC B03BA C01AA C01BD C01DA C01EB C03DA C03EB C04AD C04AE
    C04AX C05CA C10AA C10AB C10AX C10AC C10BA G04BD G04CA G04CB L02AE M04AA M05BA M05BX
    M09AX N04BA N04BC N05CD N06DA N06DX R03AK R03BB S01EC S01ED S01XA""".split()
WITH_YOUTH = """V22 V25 V72 256 626 625 628 633 634 640 644 648 650 659 614 616 618 346
    463 474 493 477 706 540 G03AA G02BB G03GA G03DA D10AD D10AF D10BA N02CC J01CA
    L03AB""".split()
WOMEN_ONLY = """174 218 220 233 256 610 614 616 617 618 620 622 623 625 626 627 628 633
    634 640 644 648 650 659 V22 V25 V72 V76 G01AF G02BB G03AA G03CA G03DA G03FA G03GA
    G03XC L02BA L02BG""".split()
MEN_ONLY = "185 600 601 603 607 608 G04BE G04CA G04CB G03BA L02AE".split()
# Drugs that are dispensed again and again; their counts are higher.
LASTING = "A02 A10 B01 C0 C10 G04 H03 L0 M04 M05 N03 N04 N05A N06 R03 S01E".split()

# Table 10 of the paper, as printed: codes that clinicians tie to each disease.
TABLE_10 = {
    "hypertension": """362 401 402 403 404 405 760 C01AA C01BA C01BA C01BC C01BD C01CA
        C01CB C01CX C01DA C01DX C01EB C02AB C02AC C02CA C02DB C02DC C02DD C02K C02LC
        C03AA C03AX C03BA C03CA C03DA C03EA C03EB C04AD C04AE C04AX C05AA C05AD C05AE
        C05AX C05BA C05BB C05BX C05CA C05CX C07AA C07AB C07AG C07B C07G C07D C07E C07X
        C08CA C08DA C08DB C08GA C09AA C09BA C09BB C09CA C09DA C09DB C09XA C10AA C10AB
        C10AC C10AD C10AX C10BA C10BX""".split(),
    "diabetes": """250 588 648 775 A10AB A10AC A10AD A10AE A10AF A10BA A10BB A10BD
        A10BFM A10BGM A10BH A10BX""".split(),
}
MISPRINTS = {"A10BFM": "A10BF", "A10BGM": "A10BG"}
